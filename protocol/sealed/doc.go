// Package sealed lets several parties train a ridge regression on all their rows and open nothing but its weights.
// Three keepers compute on shares, check the result and open it. This comment is the argument that the code has to
// satisfy, and the reason for each of its rules. The code does all of it within one session. The session has one
// generation, and a second one if a keeper loses its journal before coins are shown. What is said of several sessions
// or jobs (attempts, counts of numbers, classes that are left out, certificates) is for those who run them.
//
// With phi(x) the M features of a row and y its L targets (see learn/moments), the sums over all n rows are
//
//	A = sum of phi phi^T  (M x M)    B = sum of phi y^T  (M x L)    W = (A + alpha)^-1 B
//
// Features are scaled to a norm of at most sqrt(N/n), where N is the least power of two that is at least n; |y| <= 1.
// Both are rounded towards zero, which lengthens nothing, to b fraction bits: 15 up to N = 2^18, and 14 up to N = 2^20,
// the most. So A and B are whole numbers in units of 2^-2b, no entry exceeds N, and H = 2 A/N - 1 has its eigenvalues
// in [-1, 1]. It has h = 2b + log2 N - 1 <= 47 fraction bits, without a cut. alpha is that of the scaled features.
//
// Each claim is marked. [P] is proved here. [C] is proved here, and the named test counts all values of a small ring.
// [M] is only measured: by the named test, or without a name by a prototype outside this repository. [A] is assumed.
//
// # Roles
//
// Data parties have rows, at least two of them. Three members are keepers: servers a and b compute, dealer c deals
// random numbers. A keeper is a data party or the coordinator. What enters or leaves has three parts, each known to two
// keepers, all three to nobody:
//
//	upload   x = E + U_a + U_b     E: a, b     U_a: a, c     U_b: b, c
//	weights  W = F + V_a + V_b     F: a, b     V_a: a, c     V_b: b, c
//
// Words are in Z_q, q = 2^128. U_a and U_b are streams of the party's seeds s_a and s_b; V_a and V_b are streams of
// pair seeds, to which both keepers of a pair contribute. Of a symmetric matrix only one triangle is sent or drawn, so
// E and U are symmetric whatever a liar sends. Who learns what beyond its own rows:
//
//	data party                      row counts, W
//	data party that lies            row counts, W of A + A_p and B + B_p for A_p, B_p of its choice
//	coordinator that is no keeper   who sends, when, how much; what parties report to it
//	keeper                          row counts, W, 40 blurred sums of R and 40 of W; of a session that ends early the
//	                                sums, but no W, in up to three sessions
//	keeper that lies                in place of W another one within the check's tolerance, or the sums of a check that
//	                                fails; in each attempt also one predicate of its choice if it is b, two if it is c
//	keeper with some data parties   the same about the sums of the other parties
//	two keepers                     everything
//
// W tells much by itself, also who took part: sealing protects rows and sums, and only noise in the sums hides
// participation (Differential privacy). With two parties, each can subtract its own sums from W's equations and has
// equations about the other's sums. [M: TestMembershipOfDigits, TestMembershipOfA9a] On digits (1,347 rows, M = 512)
// losses tell members with an AUC of .59, likelihood ratios of 64 shadow models with .93: they
// find 44 % of members at one false alarm in a hundred. With alpha 1 in place of .13 the AUC is .84, with 10 .70; with
// the 32,561 rows of a9a .53. [M: TestMembershipOfAllCandidates] alpha W = sum of (y - W phi) phi^T is linear in who
// took part. If M L exceeds the number of candidates (5,120 and 1,797), whoever has all their records makes no error.
//
// [A] No two keepers work together or belong to one organisation; each operator approves their names. At most one
// keeper lies. It may rush: send after it has received. Streams of internal/crypto/prg look uniform. SHA-256 binds,
// hides what is salted, and its outputs are coins. Envelopes bind sender, receiver, session, generation and step
// (without the last two a coordinator that relays could replay F). No keeper runs from an old image of its machine.
//
// # Uploads
//
// For each session a data party draws s_a, s_b and three salts. It sends s_a to a and c, s_b to b and c, and E = x -
// U_a - U_b to a and b. All keepers get one signed commitment: session, keepers, row count, and for each part
// SHA-256(session, party, name of the part, salt, words of E or seed of U). A seed determines its words. Only the
// part's two holders get its salt. Each holder checks its parts. The keepers compare all commitments before a server
// sends its first word.
//
// [P] A keeper's view of an honest upload is uniform: a lacks U_b, b lacks U_a, c lacks E. All salts are necessary:
// with two parts, a plain hash of the third would confirm any guess of x. [P] Both holders of a part have the same. A
// part that does not fit shows that the party or the complaining keeper lies, not which; a party that signs two
// commitments is named. Uploads need no order. Whatever a lying keeper makes of honest parts for an upload of its own
// is independent of all honest x, as its view is. To repeat another's x it lacks one of s_a, s_b and E.
//
// # Products, squares, cuts
//
// Between the borders a value is the sum of a share of a and one of b, written [y]. Let X = E + U, E known to both and
// [U] = (U_a, U_b). A product opens F = y - V for a new V; c, which knows U and V, sends b the words U V - Z_a, with
// Z_a a stream of a and c. A square opens E = X - U for a new U, and c deals U^2 in the same way. So
//
//	[X y] = E [y] + [U] F + [U V]        [X^2] = E^2 + E [U] + [U] E + [U^2]
//
// and one X serves any number of y. Cuts are local: a keeps floor(z_a / 2^f), b keeps -floor((-z_b mod q) / 2^f).
//
// [C: TestCut] If z_a is uniform, the result is floor(z / 2^f) or one more, except with probability |z|/q. Proof: -z_b
// is z_a - z mod q. If 0 <= z_a - z < q in whole numbers, the result is floor(z_a / 2^f) - floor((z_a - z) / 2^f),
// which is one of the two. The condition fails for |z| of the q values of z_a.
//
// [C: TestCutAgain] a's share of an upload, product or square is uniform. That of a public combination of words that
// were cut is short, and its cut fails with up to |z| 2^f/q. So before such a cut, that of W above all, a adds and b
// subtracts a stream of their pair, which nobody else ever sees and which covers nothing else. An honest job fails with
// at most sum |z| / q over all words that are cut. H has norm 1, so over the triangle of its square sum |z| <= M^1.5
// 2^2h / sqrt 2 for M >= 3: 2^-35 q for M = 512 and N = 2^11, and at most 2^-21 q, as h <= 47. Vectors and later
// squares have v = s + 8 fraction bits (The weights). If the recurrence has norms up to 2^r, which the plan computes,
// K/m cuts of vectors have sum |z| <= (K/m) sqrt(M L) 2^(2v+r). With r = 11 that is 2^-18 q for M L = 5,120, m = 8,
// alpha = N/10,000 and N = 2^20. The plan takes only blocks with which all cuts fail with at most 2^-14. More rows are
// refused, as such vectors would fail with 2^-10 for N = 2^24. A liar may cause any error: the check judges W.
//
// # Opened words are uniform
//
// [C: TestOpenedWords] Until coins are tossed, all words that one keeper receives are jointly uniform and independent
// of honest inputs, whatever it and its data parties send. Proof for b. It receives, in the order of the computation, E
// of each honest upload, F_a = y_a - V_a and then U V - Z_a of each product, E_a = X_a - U_a and then U^2 - S_a of each
// square. The stream with the minus sign is the word's cover: b lacks it, and it covers no other word. (1) Fix honest
// inputs, b's streams and a view, that is a value of every word that b receives. What b sends is a function of the
// view, in whichever order it waits and sends. (2) Go through the words in order. Each is a function of inputs, of what
// b sends and of earlier covers, minus its own cover. So exactly one value of the cover gives the value in the view.
// (3) Hence each view belongs to exactly one choice of all covers. Covers are uniform, so the view is. For a the covers
// are U_b and V_b; it gets no words from c. c gets seeds, salted hashes, and messages that name the step of b; as a
// broker it passes sealed messages. Uses of an X and generations are not limited, as long as no cover serves twice
// [C: TestOpenedWordsOfTwoGenerations].
//
// [P] What a liar can do to W: b adds known words e to its share; or opens F + e to a, and adds E e or not. c adds
// known words to U V or U^2. That suffices for harm: e on B gives W = (A + alpha)^-1 (B + e), with a residual that the
// liar knows. So no keeper may add to the residual below.
//
// # The weights
//
// a and b open F = W - V_a - V_b, with V from streams of their own, since V is shown later. Before coins are tossed
// each keeper sends both others, for each of its two parts of W, SHA-256(session, generation, name of the part, salt,
// part), with a salt from the seed of the part's two holders. A holder compares with its own hash, the third keeper the
// two that it gets. If any differ, it stops before it reveals its coins. [P] So both honest keepers mean one W: each
// part has an honest holder, and the other accepts its hash or stops. Without hashes a tells b V_a + d and c F + d at
// the opening, with <r_j, d> = 0 for all coins, and neither can tell W from W + d. Without salts c could test guesses
// of W.
//
// W has s = max(26, 15 + log2 N) fraction bits; vectors before its cut have v = s + 8. In units of 2^-(2b+s) let
// R = 2^s B - (A + alpha) W. What honest keepers hold of uploads, F and V fixes R mod q. For honest W = p(A) B with
// p(x) = (1 - T_K(l(x)) / T_K(l(-alpha))) / (x + alpha), l(x) = 2x/N - 1 and Chebyshev's T_K, let
// kappa = cosh(K acosh(1 + 2 alpha/N)). Then
//
//	|R|_2 <= sqrt(N n) / kappa + (N + alpha) sqrt(M L) / 2^s + rounding    beta  = 7/sqrt 2 times it
//	|W|_2 <= (1 + 1/kappa) sqrt(n / (4 alpha)) + sqrt(M L) / 2^s           omega = 7/sqrt 2 times it
//
// [P], but the rounding before the cut is an allowance of N sqrt(M L) K/16 units of 2^-v [M: TestRoundingOfDigits].
// beta and omega are rounded up to even whole numbers of units. The cut of W adds at most .011 (1 + alpha/N) row to
// beta for M L = 5,120, and the allowance .005; with 26 bits the cut would add 5.5 for N = 2^20. The plan takes K =
// ln(max(100 n, 900 sqrt(N/alpha))) / acosh(1 + 2 alpha/N), rounded up to a multiple of m: then beta is at most .14 row
// and rounding, and a lie within the check moves outputs by at most .1, as a root mean square (What passes). A job
// chooses neither K nor s, and the plan refuses beta above 1/6 row and alpha below N/40,000. (On digits K = 400 gives
// 5.5 rows, K = 200 gives 301, and a liar picks W within that.)
//
// Coins r are -1, 0, 0 or 1. As mean exp(t r) = cosh(t/2)^2 <= exp(t^2/4), an honest |<r, R>| exceeds beta with at most
// 2 exp(-24.5), |<r, W>| exceeds omega with as much, and an honest job fails one of 80 sums with less than 2^-27.
//
// # The check
//
//	1  a, b               F                            6  helper -> checker  v, v', o of each cross term; digests
//	2  all                hashes of parts of W;        7  checkers           verdicts
//	                      commitments to coins, token  8  all                totals of R: 1, 1, 2, 4, 8, 8, 16 sums
//	3  all                coins r_1 ... r_40          15  all                totals of W in the same batches
//	4  prover -> checker  y, q of each cross term     22  all                pass tokens
//	   all                commitments, digests        23  all                parts of W
//	5  all                challenges lambda, rho
//
// A commitment is SHA-256(session, generation, purpose, sender, 32 random bytes). Coins, and challenges, are SHA-256 of
// the three keepers' bytes in order, expanded. (c checks no cross term, so it may reveal its challenge before b has a's
// y. With XOR and no sender, a would copy b's commitment, cancel it, and know lambda in time for a false M_a.) A digest
// is that of all hashes, commitments (also to tokens) and reveals so far. Each keeper compares the others' digest of
// the coins before it uses a word of message 4, that of the challenges before it uses one of message 6, and stops if
// one differs; both messages hold covered words only. Noise and masks are drawn under the digest of the coins.
// (Otherwise b shows a and c different coins and gets two sums under one noise.) Of <r, R> two keepers know all but
// three cross terms, which one knows:
//
//	M_a = -<r, E V_a + U_a F>    M_b = -<r, E V_b + U_b F>    M_c = -<r, U_a V_b + U_b V_a>
//
// The next section turns a cross term into y - w: y known to its prover and checker, w to its prover and helper. Each
// pair adds up all it knows, with noise e uniform on the whole numbers of [-beta/2, beta/2] from the pair's seed:
//
//	T_ab = <r, 2^s E_B  - alpha F   - E F>     + y^a + y^b + e_ab
//	T_ac = <r, 2^s U_aB - alpha V_a - U_a V_a> + y^c - w^a + e_ac
//	T_bc = <r, 2^s U_bB - alpha V_b - U_b V_b> - w^b - w^c + e_bc
//	D    = T_ab + T_ac + T_bc = <r, R> + e_ab + e_ac + e_bc           accepted if |D| <= 2.5 beta
//
// E and U are the sums over all uploads. Totals are reduced mod q before they leave: cross terms are computed mod
// 2^192, where masks cancel in D, and its upper 64 bits would be exact bits about A. Both holders of a total send it to
// the third keeper; if they differ, it stops. So each honest keeper has the true D. A batch leaves after the verdicts
// and after the last batch was accepted. Only totals leave: M_b, with V_b shown later, would give a <r, A F> exactly.
//
// Sums of W's words follow after all D in the same way: totals <r, F>, <r, V_a> and <r, V_b>, each with new noise of
// [-omega/2, omega/2], accepted within 2.5 omega. Without noise 40 sums are W itself if M L <= 40, before any token.
// They use the same coins: each proof below needs coins that are independent of its own vector only.
//
// # Cross terms
//
// The prover knows G, f, V, U; the checker G, f; the helper V, U. G and U are symmetric. The claim is M_j = -<r_j, G
// V + U f> mod 2^128. Words, as representatives in [0, q), are lifted to Z_2^192; of E and U it is the sum over uploads
// that is lifted. Masks w_j, w'_j, w", m, m' are streams of prover and helper, named by the term; lambda and
// rho_j < 2^64 are challenges; r* = sum rho_j r_j.
//
//	term  prover  checker  helper   G    f    V    U      prover   y_j = M_j + w_j, q_j = -<r_j, G m> + w'_j, q = -<m', f> + w"
//	M_a   a       b        c        E    F    V_a  U_a    helper   v = lambda V + m, v' = lambda U r* + m',
//	M_b   b       a        c        E    F    V_b  U_b             o = sum rho_j (lambda w_j + w'_j) + w"
//	M_c   c       a        b        U_a  V_a  V_b  U_b    checker  o - <G r*, v> - <v', f> = sum rho_j (lambda y_j + q_j) + q
//
// A keeper reveals its challenge only when it has y and q of each term that it checks, so after a lying prover has sent
// them. [P] Honest words are accepted, since G is symmetric.
//
// [C: TestCrossTerm] A prover with one M_j false mod 2^128 is accepted with less than 2^-59. Proof. Let e_j, e'_j, e"
// be its errors in y_j, q_j, q. (1) The sides differ by lambda X + Y, X = sum rho_j e_j, Y = sum rho_j e'_j + e". (2)
// Let 2^v be the power of two in X, v = 192 for X = 0. lambda X = -Y has no solution or fixes lambda mod 2^(192-v), so
// at most g(v) = max(2^-64, 2^(v-192)) of all lambda solve it. (3) Let e_1 have the lowest power of two, 2^t with
// t <= 127. Given the other rho_j, 2^v divides X for at most one residue of rho_1 mod 2^(v-t), so with at most
// max(2^-64, 2^(127-v)). (4) Sum by parts over v: g(128) + sum for v = 129..192 of (g(v) - g(v-1)) P(2^v divides X),
// which is at most 2^-64 + 63 x 2^(v-193) 2^(127-v) + 2^-1 2^-64 = (4 + 63 + 2) 2^-66. One false M_j = 2^127, with q_j
// and q honest, reaches the bound. A liar is the prover of one term only.
//
// [C: TestCheckView, TestCheckViewOneMask] A keeper's view of the check is uniform words, D and the verdicts. w, w',
// w", m, m' cover y, q_j, q, v, v'. o follows by the equation. It lacks one total, which is D less the two that it
// knows, and D contains no mask. A mask serves one term and one lambda, as two lambdas give V; what follows the coins
// is never computed anew. M_b and M_c have the same prover and helper, the other way round, and the same V_b, U_b,
// checker and lambda. With the same masks y^b - y^c = -<r, (E - U_a) V_b + U_b (F - V_a)>: once V_b opens, a has 40
// exact equations in A.
//
// [P] A helper that lies learns a predicate: v + d is accepted if <G r*, d> is what it expects, a linear equation in A
// for G = E, such as one parity; v' + d asks about F, and so about W before W is judged. If it is accepted, nobody
// notices and no attempt is counted. c helps two terms with two checkers and may choose the second predicate after the
// first verdict; b helps one, a none. Whether D is accepted is one more, such as a threshold on a word that was cut.
//
// # What passes
//
// [C: TestOneWord] A word of R outside [-5 beta, 5 beta] mod q fails each sum with at least 1/2. Proof: fix noise and
// all other coins. D is s - x, s, s or s + x for that word x. If s is accepted, the others are more than 5 beta away
// and are not. If s is not, half of the coins remain. (Coins -1 and 1 would never find x = q/2; 0 and 1 have a mean.)
//
// [C: TestManyWords] If no word exceeds 5 beta and k words exceed 5 beta/g, a sum passes with at most the g largest of
// C(2k, i)/4^k, added up; that is at most g/sqrt(pi k). Proof: sums do not wrap. A coin is (u + v)/2 with signs u, v.
// Turn the signs so that the k words are positive, and fix the other coins. Of the 2k signs, each that changes
// from - to + adds more than 5 beta/g. So no chain of g + 1 patterns lies within 5 beta, and a family of subsets
// without such a chain has at most the g largest binomials as members (Erdős 1945).
//
// [C: TestManyWordsTogether] So R passes 40 sums with more than 2^-40 only if its k-th largest word is at most
// 5 beta/g(k) for each k, with g(k) the largest g whose binomials add up to at most 1/2. Squares add up to
// |R|_2 < 18 beta for 5,120 words, 16 beta for 512. R is fixed before the coins, so there is no union over k.
//
// [P] No word of W exceeds 5 omega, except with 2^-40, by the proof for one word. It is needed: if cells are 0 or 1 and
// alpha is whole, A + alpha is a multiple of 2^2b, and q/2^2b added to a word of W leaves R as it is. With
// |A_ij| <= N 2^2b, as rows give, the plan checks (M N + alpha) 2^2b 5 omega + 2^s |B_ij| + 5 beta < q/2 in units. So
// R = 2^s B - (A + alpha) W in whole numbers: W is the exact model of B + rho, with rho at most 5 beta in a word and
// 18 beta in all. As lambda/(lambda + alpha)^2 <= 1/(4 alpha), squared changes of outputs on all training rows add up
// to at most |rho|_2^2/(4 alpha). With K as above and up to 5,120 words that is .1 a row (root mean square), and
// rounding; on digits .07. A session errs with less than 2^-38.
//
// # What the sums tell
//
// [P] A keeper knows two of the three noises, so the third counts: D tells at most log2(1 + z/beta) bits about an
// <r, R> of range z, the entropy of D less that of the noise; sums of W likewise with omega. Honest sums have z about
// .14 beta and .26 omega [M]: 8 and 14 bits in all. A D that is accepted for sure tells at most log2 5. A liar chooses
// R before the coins. [P] If a word exceeds 5 beta, a batch after t sums opens with at most 2^-t, which makes
// 1 + 1/2 + 2/4 + 4/16 + 8/256 + ... < 2.3 sums on average, each with the 73 of 128 bits above the noise, and no sum of
// W. [M] If none does, more sums open and each tells less: 71 bits in 39 sums on average is the most found (Open).
// [P] A W that differs by multiples of q/2^2b (above) passes all D and is refused by its own sums, also after 2.3 on
// average. They may carry secret bits, such as whether the cut of W wrapped; so they come in batches, too.
//
// # Opening
//
// With its coins each keeper has committed to a pass token. It reveals it to both others when it has accepted all sums.
// A keeper that has accepted and holds all tokens, from whomever, sends its parts of W, their salts and the tokens to
// the others. A part counts only if it fits the hashes of message 2. Other members take the W that two keepers say. A
// keeper that has revealed its token does not expire and keeps its parts of W: it answers tokens with them whenever
// they come. (Otherwise a liar shows its token to one honest keeper just before the deadline, and the other has
// expired.)
//
// [P] If the liar gets W, both others do. It lacks one part, so an honest keeper has sent it. That keeper had all
// tokens, so both honest keepers have accepted; the other gets the tokens with the parts and sends its own; together
// they hold every part, and the hashes tell which part is true. Three conditions: messages between honest keepers
// arrive at some time (a coordinator that is c carries them, and can keep W for itself), no journal is lost after the
// token, and no runner ends the session of a keeper that has revealed its token, whatever another member does. (Else c
// shows its token to a only, takes F, and has b ended before a's part arrives: only c has W. A keeper may end when both
// others have failed before their tokens.) [M: TestNoRunnerEndsAnOpening] Runners do not for two messages under one
// header. They do for the end of the job, which the coordinator declares: a deadline, a report that another member has
// failed, an operator's word. Members that are no keepers do expire: a liar that holds its token back for so long
// leaves them without W, which all keepers get. (Without tokens b sends c alone a wrong last total: a opens to b, c has
// stopped, and a lacks V_b.) The job counts as released at a home once its keeper has revealed its token.
//
// # Differential privacy
//
// A private problem has a guarantee (epsilon, delta) of differential privacy for each person's row. Every keeper adds
// discrete Gaussian noise for A's triangle and for B to its upload. A keeper that is a data party adds it to its sums
// before it divides them. A keeper without rows uploads noise alone, and its document states 0 rows. So each member has
// one upload, with one document and one set of parts, and a keeper shows its noise apart from its sums to nobody.
// (Two uploads of one member would need a second name in commitments, streams and documents, for words that keepers add
// up anyway.) Package privacy states the variances: the noise of two keepers, accounted as the sum of two discrete
// Gaussians, gives the guarantee. One keeper may add none, and knows its own in any case. If all three add theirs,
// variances are 1.5 times as large. The noise is a stream of the keeper's seed for the session: a whole journal
// repeats it. Another session draws other noise and is another release.
//
// [P] Let a keeper that lies and any data parties work together. All that they see, until the session ends in whatever
// way, is a function of their own secrets, of random numbers that do not depend on honest rows, and of S, the sums of
// the other data parties with the noise of the two other keepers. Proof. Their views of honest uploads are uniform and
// independent of what these share (Uploads). All later messages of honest members, and W, follow from the views, from
// members' own seeds, from what liars send, and from the sums over uploads of the part that the liar lacks: its own
// uploads' part it knows, and the honest uploads' parts add up to S less what it holds. [M: TestOnlyTheTotalCounts] [P]
// S has the guarantee, so all of that has: W, the sums of the check, a check that fails, predicates of lies, cuts that
// go wrong. It does not matter what is uploaded beside S. Sums that a liar makes up (What is not promised) show the
// sums of others under the noise only, and membership tests are bounded by epsilon and delta. The guarantee is against
// those who cannot tell streams of internal/crypto/prg from random numbers. The time of a draw depends on the noise, so
// all is drawn before a keeper's first message.
//
// Let norm bound the magnitude of the eigenvalues of A's noise, but for 2^-20 ([privacy.Ridge.Norm]). The ridge alpha
// exceeds norm at least by a tenth of itself and by N/40,000. Rows are scaled to n rowScale^2 + 2 norm <= N, so
// A' = A + norm with its noise has eigenvalues from 0 to N. With alpha' = alpha - norm it is A' + alpha' = A + alpha.
// So all above and below holds for A' and alpha' in place of A and alpha: H = 2 A'/N - 1, kappa, K, the cuts, what
// passes. Only norms of B and W grow by B's noise, whose norm is at most g = sigma_B (sqrt(M L) + 6), but for exp(-18),
// and K counts that as rows:
//
//	|B|_2 <= n rowScale + g          |W|_2 <= (1 + 1/kappa) (sqrt(n / (4 alpha')) + g/alpha') + sqrt(M L) / 2^s
//
// [P] For B without noise is F^T Y, and A' + alpha' = P >= F^T F + alpha', as noise + norm has no eigenvalue below 0.
// So |P^-1 F^T|^2 = |P^-1 F^T F P^-1| <= |P^-1 - alpha' P^-2| <= 1/(4 alpha'). The changes of outputs (What passes)
// have the same bound. [M: TestNoiseBeyondItsNorm] An eigenvalue below -norm makes the polynomial grow, and in the end
// the words of W wrap: the check fails, and the job has spent its budget for nothing.
//
// Nothing bounds an upload but the range of words, with noise or without: no sums of single uploads are opened. (Sums
// of one upload are equations about one party's rows without the keepers' noise, so they would void the guarantee.) An
// upload that no rows have can make the recurrence overflow, and then the check refuses W. Or it can have W solve the
// equations mod q alone; a liar has easier ways to spoil a model.
//
// # Restarts and attempts
//
// A whole journal replays the same messages [M: TestProperties, TestCrashOfSealed]. A member that had forgotten what it
// accepted could cover other words with the same stream: if the dealer has sent b two words under one Z_a, b has their
// difference. So each step that sends waits for the disk, and a member whose journal is not whole does not go on as if
// it were. Package journal refuses a log that is damaged or ends before what was on disk.
//
// A keeper whose journal is lost before it shows its coins begins a generation [M: TestAnew, TestLostJournalOfSealed].
// It draws 32 fresh bytes. All that it draws from then on follows from them, but its upload, which follows from the
// session's seed and its sums as before. The first generation has number 0, and this one a number of the keeper's own.
// The keeper sends contributions, and its upload again. To each other keeper its contribution says that it has begun.
// That keeper drops what it computed, keeps uploads, contributes to the new generation, and sends the keeper its own
// upload again, byte for byte, as data parties do that are no keepers, once. Two generations differ in the last bits
// of W [M: TestKeepersOnFewFeatures]. The rules, with L for a keeper that has lost its journal:
//
//	(1) A keeper whose journal is whole begins one generation after the first at most, and none after it has shown its
//	    coins. If another begins, it ends the session and names that one; after its token it refuses and goes on.
//	(2) L takes part in its own generation only. It is L once: a second loss ends the session.
//	(3) Outside the journal are on disk: a hash of L's sums, before its first message; that it shows its coins, before
//	    it does; that it has begun anew, before its first message after that. Other sums or shown coins end the session.
//	(4) A keeper drops what was sent to its earlier life, and what belongs to a generation in which it takes no part. It
//	    blames nobody for it.
//	(5) A data party that is no keeper believes two keepers that say the same W of one generation.
//
// [P] Opened words stay uniform. The proof goes over the words of all generations in the order in which they are sent,
// with what a keeper forgets as part of the past. It needs that no cover serves twice. The covers that a liar lacks
// are streams of the two honest keepers' pair, whose seed is a hash of generation and both contributions. A life of a
// keeper draws from a seed once and in order. Each life of L has other contributions: those of the first follow from
// the session's seed, those of the second from fresh bytes. So each seed belongs to one life of each keeper. The masks
// of an upload serve twice, but for the same words: a keeper sees E and the seeds that it holds again. If the sums had
// changed, it would see their difference: hence the hash in (3). L compares the parts that it gets again with the
// documents, and these with the other keepers, so that nobody can change an upload by showing L another one. Hashes of
// W's parts, and commitments, have salts and secrets of their generation. In the first generation a lying server sees
// F, under a V_a or V_b that is never shown.
//
// [P] Sums are told in one generation at most. A keeper tells them only after both honest keepers have shown coins of
// that generation. Let both have shown coins of g, and then of another one. By (1) neither has a whole journal, so
// both are L, and (2) puts them into different generations. It follows from (1) and (2) alone, so it holds even if
// what (3) keeps is lost with the journal. All that a session tells besides uniform words comes after coins: D,
// verdicts, predicates, W. So a generation that ends before them has told nothing, and is no attempt. With noise
// (Differential privacy) uploads are the same, so it is no second release either.
//
// [M: TestLiarBeginsAnew, TestLiarBesideLostJournals, TestFollow] A keeper that lies may begin a generation without
// need, late, or tell one of the others only. It can end the session by that, and have an honest keeper named that it
// kept waiting; so it can by silence. If two keepers lose their journals, or one does twice, each other keeper ends at
// the second [M: TestAnewOnce].
//
// In all other cases a lost journal ends the session: after coins, that of a data party that is no keeper, one whose
// beginning cannot be read, or without the hash in (3). The member destroys the session's seed and says so, and the
// coordinator names it and ends the job for all, before any timer. [P] What has been sent stays uniform, since nothing
// is sent again. A loss after the token is one of the cases above in which a keeper may have W alone. If another keeper
// has shown its coins, and L has not, the other ends and names L.
//
// Submitted again, the job is another session, with new bytes in every seed, new uploads and new directions. A session
// that has ended is an attempt, which has told 80 blurred sums at most. There are 3 on the same rows, also if a liar
// wastes them. Before the coins nothing was told, but a data party that is no keeper cannot see when a session ended.
// So it counts an attempt and M L numbers before its first message, and takes none back. Attempts belong to the rows:
// naming other keepers does not reset them. A missing upload ends the session: no keeper may leave a party out, as
// models with and without it differ by its rows. [M: TestModelsThatDifferByARow] On the same directions two models that
// differ by one row of digits show it (median correlation .95). On fresh ones the same attack shows less than a mean
// digit does (.51 and .69).
//
// # What is not promised
//
// Nothing binds an upload to rows: a model is of what parties sent, and keepers accept all that follows. On digits,
// M = 128, gamma .05 or .2: [M: TestLiarOpensTheTargets] A_p = t I shows B/t (t = 300: correlation .80 or .97; honest
// .22 or .56), for t up to N less A's greatest eigenvalue. [M: TestLiarOpensAColumn] A_p = t I but for entry l, with
// B_p = e there, opens column l of A (t = 300, e = 500: .92 or .97; omega bounds e). [M: TestLiarOpensASmallerAlpha]
// A_p = -t I opens the model for alpha - t, as long as t is below alpha plus A's least eigenvalue (3 alpha passes for
// gamma .2). Each opens M L numbers about sums of honest rows. Floors limit this: a party has 100 rows, refuses if
// another declares more than half of all rows (of two: three quarters), counts M L over jobs, and leaves out each class
// that has fewer than 10 people or fewer cells than M. (A class of 10 rows and 5 columns has 50; with M = 162 and
// A_p = 1,500 I its column of B gives 72 % of them [M].)
//
// With fixed features (linear) sums are the same in each job. [M: TestLiarCountsPairs] A lying party with A_p = 0 and
// unit vectors for B_p gets columns of (A + alpha)^-1 as differences of W, and so A and B exactly: on digits as 0 and
// 1, M = 47, six jobs give all 1,081 counts of pairs, 89 of them of 1 to 9 people, with 2,820 numbers where 7,751 are
// allowed. [M: TestLiarShowsTenColumnsOfPairs] A_p = 1,600 I but for ten entries shows the counts of ten columns in one
// job (correlation .98). So with fixed features there is one W for each edition and set of parties, and a party takes
// part only if each pair of values has none or 10 of its people. [M: TestLiarReadsLeverages] With drawn features, B_p
// of 12 phi(x), a column each, gives leverages of 10 chosen people a job. They tell who took part with an AUC of .91
// where losses of the honest model have .86 (800 rows, M = 512, gamma .2), and .61 for .60 with 1,347 rows and gamma
// .05.
//
// Directions follow from 32 bytes of each data party, which it commits to before it knows another's (package
// internal/method/sealed). So nobody chooses them; who shows its bytes last can only end the job.
//
// Nothing holds against two keepers, or if one person owns most parties. A [Certificate] (40 sums of the parties' own
// R_p, added up by secagg after the opening) finds another W of theirs, unless one of them is a party that makes up for
// it [M: TestTwoKeepersWithRowsMakeUp]. It prevents none and names nobody. A liar can end a job, three times for good,
// and is named only by two contradicting signatures.
//
// # Open
//
// The rounding in beta is an allowance; a bound for blocks of steps is missing. So is one for what sums tell a liar
// whose R has no word above 5 beta. 40 sums of each upload, under noise of 16 n_p, would bound overflow. They are left
// out: they do not stop t I with t = n_p/2, and they tell keepers about single parties. Whole numbers above are claimed
// for uploads that rows can give.
package sealed
