import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import tar from 'tar-stream';
import { StartupFailure } from '../../core/startup-failure.ts';
import { accountFor } from './account.ts';
import { locateCluster } from './cluster.ts';
import { acquireLock, type DirectoryLock } from './lock.ts';
import { syncDirectory } from './secret-file.ts';
import { defaultSharedDir, openSharedDir, refuseReadOnlyDisk } from './shared-directory.ts';

/**
 * A backup of the embedded database is a compressed tar file of its data directory at one moment: the cluster with the
 * write-ahead log that makes it consistent, as PostgreSQL itself sends it to `pg_basebackup`, and the secrets. The npm package
 * has no `pg_dump`. A restored cluster needs the same major version of PostgreSQL and the same processor architecture.
 */

const secretFiles = ['secret', 'secret.next', 'postgres.password'];
const clusterFolder = 'postgres/';

/**
 * Writes the backup to a new file that only its owner may read. The database may be in use.
 * @param connection as any role of the embedded database: all have one password
 */
export async function writeBackup(
  dataDir: string,
  connection: pg.ClientConfig,
  file: string,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'it exists' : error.message;
    throw new StartupFailure(`The backup cannot be written to ${file}: ${reason}.`);
  });
  try {
    const pack = tar.pack();
    const written = pipeline(
      pack,
      createGzip({ level: 1 }),
      handle.createWriteStream({ flush: true }),
    );
    await Promise.all([written, fill(pack, dataDir, connection)]);
    await syncDirectory(dirname(resolve(file)));
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function fill(pack: tar.Pack, dataDir: string, connection: pg.ClientConfig): Promise<void> {
  try {
    for (const name of secretFiles) {
      const text = await readFile(join(dataDir, name)).catch(() => null);
      if (text) pack.entry({ name, mode: 0o600 }, text);
    }
    const cluster = tar.extract();
    await Promise.all([sendCluster(connection, cluster), prefixEntries(cluster, pack)]);
    pack.finalize();
  } catch (error) {
    pack.destroy(error as Error);
    throw error;
  }
}

async function prefixEntries(cluster: tar.Extract, pack: tar.Pack): Promise<void> {
  for await (const entry of cluster) {
    const { header } = entry;
    const name = clusterFolder + header.name.replace(/^\.\//, '');
    // The server's own log does not belong to its data.
    if (name.startsWith(`${clusterFolder}log/`)) entry.resume();
    else if (header.type === 'file') await pipeline(entry, pack.entry({ ...header, name }));
    else {
      pack.entry({ ...header, name });
      entry.resume();
    }
  }
}

/** Asks PostgreSQL for its cluster as a tar archive. */
async function sendCluster(connection: pg.ClientConfig, to: tar.Extract): Promise<void> {
  const replication = { user: 'postgres', replication: 'true' };
  const client = new pg.Client({ ...connection, ...replication } as pg.ClientConfig);
  await client.connect();
  try {
    // The server keeps the log from here on until the connection ends.
    await client.query('CREATE_REPLICATION_SLOT cueline_backup TEMPORARY PHYSICAL RESERVE_WAL');
    await new Promise<void>((end, fail) => {
      client.on('error', fail);
      // Its reader has failed.
      to.on('close', () => fail(new Error('The archive was closed.')));
      client.query(new BaseBackup(to, () => end(), fail));
    });
  } catch (error) {
    to.destroy(error as Error);
    throw error;
  } finally {
    await client.end();
  }
}

/** The replication command behind `pg_basebackup`, as a query of the driver. */
class BaseBackup {
  readonly #to: tar.Extract;
  readonly #end: () => void;
  readonly handleError: (error: Error) => void;

  constructor(to: tar.Extract, end: () => void, fail: (error: Error) => void) {
    this.#to = to;
    this.#end = end;
    this.handleError = fail;
  }

  submit(connection: pg.Connection): void {
    this.#to.on('drain', () => connection.stream.resume());
    connection.query("BASE_BACKUP (LABEL 'cueline', CHECKPOINT 'fast', WAL, MANIFEST 'no')");
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: pg.Connection): void {
    // Other messages begin an archive.
    if (chunk[0] !== 'd'.charCodeAt(0)) return;
    // The driver uses its buffer again.
    if (!this.#to.write(Buffer.from(chunk.subarray(1)))) connection.stream.pause();
  }

  handleReadyForQuery(): void {
    this.#to.end(undefined);
    this.#end();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
}

/** Restores a backup into an empty or new data directory. The cluster is renamed to its place once it is complete. */
export async function restoreBackup(
  dataDir: string,
  file: string,
  sharedDir = defaultSharedDir,
): Promise<void> {
  const lock = await lockEmpty(dataDir);
  try {
    await restoreInto(dataDir, file, sharedDir);
  } finally {
    lock.release();
  }
}

async function restoreInto(dataDir: string, file: string, sharedDir: string): Promise<void> {
  const account = await accountFor(join(dataDir, 'postgres'));
  const location = await locateCluster(dataDir, account, async () => {
    if (!account) throw new StartupFailure('Only root can use a shared directory.');
    return openSharedDir(sharedDir, account);
  });
  const temporary = await mkdtemp(`${location}.new-`);
  try {
    const entries = tar.extract();
    const read = pipeline(createReadStream(file), createGunzip(), entries);
    await Promise.all([read, extractTo(entries, dataDir, temporary)]);
    await chmod(temporary, 0o700);
    await rename(temporary, location);
    await syncDirectory(dirname(location));
  } catch (error) {
    // So that the next try finds it empty again. The cluster may be elsewhere.
    const isElsewhere = resolve(dirname(location)) !== resolve(dataDir);
    await rm(isElsewhere ? dirname(location) : temporary, { recursive: true, force: true });
    for (const name of await contentsOf(dataDir)) {
      await rm(join(dataDir, name), { recursive: true, force: true });
    }
    throw new StartupFailure(`${file} cannot be restored: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** No server starts in the directory meanwhile. */
async function lockEmpty(dataDir: string): Promise<DirectoryLock> {
  try {
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    await refuseReadOnlyDisk(dataDir);
    throw new StartupFailure(
      `The data directory ${dataDir} cannot be used: ${(error as Error).message}`,
    );
  }
  const lock = acquireLock(dataDir, 'command');
  if ((await contentsOf(dataDir)).length === 0) return lock;
  lock.release();
  throw new StartupFailure(
    `The data directory ${resolve(dataDir)} is not empty: move it away, or let CUELINE_DATA_DIR name another one.`,
  );
}

async function extractTo(entries: tar.Extract, dataDir: string, cluster: string): Promise<void> {
  let files = 0;
  for await (const entry of entries) {
    const { name, type, mode } = entry.header;
    const isSecret = secretFiles.includes(name);
    if (!isSecret && (!name.startsWith(clusterFolder) || name.split('/').includes('..'))) {
      throw new Error(`"${name}" is no part of a backup`);
    }
    const path = isSecret ? join(dataDir, name) : join(cluster, name.slice(clusterFolder.length));
    if (type === 'file') {
      const options = { mode: isSecret ? 0o600 : mode, flags: 'wx', flush: true };
      await pipeline(entry, createWriteStream(path, options));
      files++;
    } else {
      await mkdir(path, { recursive: true, mode: 0o700 });
      entry.resume();
    }
  }
  if (files === 0) throw new Error('it is empty');
}

async function contentsOf(dataDir: string): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => !lockFiles.includes(name));
}

const lockFiles: readonly string[] = ['lock', 'pid'];
