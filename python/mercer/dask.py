"""Compute the cells of a coordinator's grid on Dask.

``python -m mercer.dask FOLDER`` starts workers on this machine. With
``--scheduler tls://HOST:PORT`` it uses those of a cluster. A task is a child of a
worker, the program ``mercer cell``, which computes one cell or ``--batch`` many, and
reads the inputs from the folder. The child ends when its stdin does, so a killed
worker leaves none.
"""

import argparse
import hashlib
import ipaddress
import os
import subprocess
import sys
import time

from ._bin import find_bin
from ._child import MercerError
from ._program import run

RETRIES = 2  # a cell is tried again if its worker or its child dies


def compute(folder, client, threads=1, batch=1):
    """Compute the cells of a folder that have no result.

    Parameters
    ----------
    folder : path-like
        The folder, at the same path on all workers.
    client : distributed.Client
        Client of the scheduler.
    threads : int, default=1
        Cores that a cell uses.
    batch : int, default=1
        Cells of a task. A task reads the inputs once; cells that are next to each
        other often have the same kernel, whose matrix is then computed once.

    Returns
    -------
    cells : int
        Number of cells that were computed.

    Raises
    ------
    MercerError
        If a task fails three times. The other tasks are done nevertheless.
    """
    from distributed import as_completed

    folder = os.path.abspath(os.fspath(folder))
    names = run("cell", "--list", folder)[0]["missing"]
    parts = [names[i : i + batch] for i in range(0, len(names), batch)]
    keys = [hashlib.sha256("\n".join(part).encode()).hexdigest() for part in parts]
    tasks = [client.submit(_cells, folder, part, threads, key=key, retries=RETRIES) for part, key in zip(parts, keys)]
    failed = [task.exception() for task in as_completed(tasks) if task.status == "error"]
    if failed:
        raise MercerError(f"{len(failed)} of {len(parts)} tasks failed; the first error: {failed[0]}")
    return len(names)


def _cells(folder, names, threads):
    """Compute cells in a child, which ends with this process."""
    with subprocess.Popen(
        [find_bin("mercer"), "cell", folder, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "GOMAXPROCS": str(threads)},
    ) as child:
        said = child.stderr.read().decode("utf-8", "replace").strip()
        code = child.wait()
    if code:
        raise MercerError(f"mercer cell ended with code {code}: {said}")


def check_address(address):
    """Refuse the address of a scheduler that others could reach without TLS.

    Whoever reaches a scheduler without TLS runs programs on its workers.
    """
    scheme, _, rest = address.rpartition("://")
    host = rest.rpartition(":")[0].strip("[]")
    if scheme == "tls" or scheme in ("", "tcp") and _is_loopback(host):
        return
    raise ValueError(f"the scheduler's address {address} has no TLS; write tls://HOST:PORT, or an address on loopback")


def _is_loopback(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _local(workers):
    """Start a cluster on loopback. It has TLS, since other users of the machine reach loopback, too."""
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})  # they have no TLS
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        protocol="tls",
        security=Security.temporary(),
        dashboard_address="127.0.0.1:0",
    )


def _client(scheduler, workers):
    """Return a client of a scheduler, or of a new cluster on this machine."""
    from distributed import Client
    from distributed.security import Security

    if not scheduler:
        cluster = _local(workers)
        return Client(cluster), cluster
    check_address(scheduler)
    security = Security(require_encryption=True) if scheduler.startswith("tls://") else None
    return Client(scheduler, security=security), None


def main(arguments=None):
    """Run ``python -m mercer.dask``."""
    parser = argparse.ArgumentParser(prog="python -m mercer.dask", description="Compute the cells of a grid on Dask.")
    parser.add_argument("folder", metavar="FOLDER", help="folder of the coordinator's cells")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="workers to start on this machine (default: one a core)")
    parser.add_argument("--scheduler", help="address of a scheduler, tls://HOST:PORT, in place of own workers")
    parser.add_argument("--threads", type=int, default=1, help="cores that a cell uses (default: 1)")
    parser.add_argument("--batch", type=int, default=1, help="cells of a task, which reads the inputs once (default: 1)")
    given = parser.parse_args(arguments)
    if min(given.workers, given.threads, given.batch) < 1:
        parser.error("--workers, --threads and --batch must be at least 1")
    began = time.monotonic()
    try:
        client, cluster = _client(given.scheduler, given.workers)
    except ImportError as e:
        sys.exit(f"mercer.dask: {e}; pip install 'mercer[dask]'")
    except ValueError as e:
        parser.error(str(e))
    try:
        started = time.monotonic()
        cells = compute(given.folder, client, given.threads, given.batch)
        print(f"{cells} cells in {time.monotonic() - started:.2f} s, after {started - began:.2f} s in which Dask started")
    except MercerError as e:
        sys.exit(f"mercer.dask: {e}")
    finally:
        client.close()
        if cluster:
            cluster.close()


if __name__ == "__main__":
    from mercer.dask import main as start  # workers import the function that they run by this name

    start()
