-- People at their first diagnosis of type 2 diabetes, as OMOP's common data model has them: their
-- age and sex, the last creatinine and HbA1c until that day, and whether chronic kidney disease
-- came later. One query for every site: it runs on PostgreSQL and on SQLite.
WITH diabetes AS (
    SELECT person_id, MIN(condition_start_date) AS day
    FROM condition_occurrence
    WHERE condition_concept_id = 201826              -- type 2 diabetes mellitus
    GROUP BY person_id
), laboratory AS (
    SELECT m.person_id, m.measurement_concept_id, m.unit_concept_id,
        CAST(m.value_as_number AS DOUBLE PRECISION) AS value,
        ROW_NUMBER() OVER (
            PARTITION BY m.person_id, m.measurement_concept_id
            ORDER BY m.measurement_date DESC, m.measurement_id DESC
        ) AS place                                   -- 1 is the last one
    FROM measurement m JOIN diabetes d ON d.person_id = m.person_id
    WHERE m.measurement_date <= d.day AND m.value_as_number IS NOT NULL
        AND (m.measurement_concept_id = 3016723 AND m.unit_concept_id IN (8749, 8840)
            OR m.measurement_concept_id = 3004410 AND m.unit_concept_id = 8554)
)
SELECT
    p.person_id,
    CAST(SUBSTR(CAST(d.day AS TEXT), 1, 4) AS INTEGER) - p.year_of_birth AS age,
    CASE p.gender_concept_id WHEN 8532 THEN 'F' WHEN 8507 THEN 'M' END AS sex,
    CASE c.unit_concept_id WHEN 8749 THEN c.value    -- micromole per litre
        WHEN 8840 THEN c.value * 88.42 END AS creatinine, -- milligram per decilitre
    h.value AS hba1c,                                -- per cent
    CASE WHEN EXISTS (
        SELECT 1 FROM condition_occurrence k
        WHERE k.person_id = p.person_id AND k.condition_concept_id = 46271022 -- chronic kidney disease
            AND k.condition_start_date > d.day
    ) THEN 'ill' ELSE 'well' END AS kidney
FROM diabetes d
JOIN person p ON p.person_id = d.person_id
LEFT JOIN laboratory c ON c.person_id = p.person_id AND c.measurement_concept_id = 3016723 AND c.place = 1
LEFT JOIN laboratory h ON h.person_id = p.person_id AND h.measurement_concept_id = 3004410 AND h.place = 1
