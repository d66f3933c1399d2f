import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { appendFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { checksumsOf, released } from '../src/db/migrations/migrate.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** A repository of its own with one commit of what a release reads. */
async function createRepository(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const name of ['src', 'release', '.gitignore', 'package.json']) {
    await cp(join(root, name), join(directory, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  const changelog = `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-29\n\n- News.\n`;
  await writeFile(join(directory, 'CHANGELOG.md'), changelog);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  git('init', '--quiet');
  // The line in .gitignore matches the directory; here it is a link or a directory.
  await appendFile(join(directory, '.git/info/exclude'), 'node_modules\n');
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'Change');
  };
  commit();
  return { file: (name: string) => join(directory, name), git, commit };
}

/** What stands in the way, or an empty text. */
async function check({ file }: Awaited<ReturnType<typeof createRepository>>): Promise<string> {
  const run = promisify(execFile);
  try {
    const { stdout } = await run(process.execPath, [file('release/main.ts'), '--check']);
    assert.match(stdout, new RegExp(`Nothing prevents the release of v${version}`));
    return '';
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

test('a clean commit with a dated section can be released, once', async (t) => {
  const repository = await createRepository(t);
  assert.equal(await check(repository), '');
  repository.git('tag', `v${version}`);
  assert.match(await check(repository), /^release: the tag v[\d.]+ exists; .*\n$/);
});

test('a changed tree, and changes that are not dated, prevent a release', async (t) => {
  const repository = await createRepository(t);
  await appendFile(repository.file('CHANGELOG.md'), '\n');
  assert.match(await check(repository), /^release: the work tree has changes; .*\n.*CHANGELOG/);
  for (const [heading, problem] of [
    [`## [Unreleased]\n\n## [${version}]`, /lacks "## \[[\d.]+\] - YYYY-MM-DD"/],
    [`## [Unreleased]\n\n- One.\n\n## [${version}] - 2026-11-29`, /changes under "Unreleased"/],
  ] as const) {
    await writeFile(repository.file('CHANGELOG.md'), `# Changelog\n\n${heading}\n`);
    repository.commit();
    assert.match(await check(repository), problem);
  }
});

test('a changed migration prevents a release, whatever the commit says of its checksum', async (t) => {
  const repository = await createRepository(t);
  const migration = repository.file('src/db/migrations/0007-search.ts');
  await writeFile(migration, (await readFile(migration, 'utf8')).replace('integer[]', 'bigint[]'));
  repository.commit();
  const problem = (than: string) => new RegExp(`migrations differ from ${than}: 0007-search; `);
  assert.match(await check(repository), problem('release/migrations.json'));
  repository.git('tag', 'v0.0.1', 'HEAD~1');
  await writeFile(repository.file('release/migrations.json'), '{}\n');
  repository.commit();
  assert.match(await check(repository), problem('v0.0.1'));
});

test('release/migrations.json has the checksums of all migrations: they are append-only', async () => {
  const stored = JSON.parse(await readFile(join(root, 'release/migrations.json'), 'utf8'));
  assert.deepEqual(
    Object.fromEntries(await checksumsOf(released)),
    stored,
    'Undo the change of a migration, or add a new one with "npm run generate".',
  );
});
