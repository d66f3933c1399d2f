import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksumsOf, released } from '../src/db/migrations/migrate.ts';

/**
 * `npm run release`: checks that the commit can be released as the version in package.json, builds what is released into
 * `out/release`, and tags the commit. It publishes and pushes nothing. With `--check` it only checks.
 */

const root = join(import.meta.dirname, '..');
const output = join(root, 'out/release');
/** The checksums of all migrations, by name. A release may add some, and change none. */
const checksumFile = 'release/migrations.json';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tag = `v${version}`;

const problems = [treeProblem(), tagProblem(), changelogProblem(), await migrationsProblem()];
const found = problems.filter((problem) => problem !== null);
if (found.length > 0) {
  for (const problem of found) console.error(`release: ${problem}`);
  process.exit(1);
}
console.log(`Nothing prevents the release of ${tag}.`);
if (!process.argv.includes('--check')) await build();

async function build(): Promise<void> {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  run('npm', 'run', 'build');
  // Otherwise it would build the dashboard again.
  run('npm', 'pack', '--ignore-scripts', '--pack-destination', output);
  const client = join(root, 'out/client');
  // Imported only here: a check of the commit needs none of it.
  await (await import('./client-package.ts')).buildClientPackage(client);
  run('npm', 'pack', client, '--pack-destination', output);
  cpSync(join(root, 'clients/python/cueline.py'), join(output, 'cueline.py'));
  if (hasDaemon()) {
    const image = `cueline:${version}`;
    run('docker', 'build', '--tag', image, '.');
    run('docker', 'save', '--output', join(output, `cueline-${version}-image.tar`), image);
  } else console.log('The image is not built: no docker daemon answers.');
  const sums = readdirSync(output).map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(output, name)));
    return `${digest.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
  run('git', 'tag', '--annotate', tag, '--message', `Cueline ${version}`);
  console.log(
    `${sums.join('')}\nTagged ${tag}. The files are in out/release. Nothing is published.`,
  );
}

function treeProblem(): string | null {
  const changes = git('status', '--porcelain');
  return changes === '' ? null : `the work tree has changes; commit them first:\n${changes}`;
}

function tagProblem(): string | null {
  if (git('tag', '--list', tag) === '') return null;
  return `the tag ${tag} exists; set another version with "npm version --no-git-tag-version"`;
}

function changelogProblem(): string | null {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const heading = `## [${version}] - `;
  const headings = changelog.split('\n').filter((line) => line.startsWith('## '));
  if (headings[0] === '## [Unreleased]' && /^\d{4}-\d\d-\d\d$/.test(dateOf(headings[1]))) {
    return /^## \[Unreleased\]\s+## /m.test(changelog)
      ? null
      : `CHANGELOG.md has changes under "Unreleased"; move them below "${heading}DATE"`;
  }
  return `CHANGELOG.md lacks "${heading}YYYY-MM-DD" after "## [Unreleased]"`;

  function dateOf(line = ''): string {
    return line.startsWith(heading) ? line.slice(heading.length) : '';
  }
}

/** Compares with the newest tag; before the first, with what is committed. */
async function migrationsProblem(): Promise<string | null> {
  const checksums = await checksumsOf(released);
  const newest = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0];
  const text = newest
    ? git('show', `${newest}:${checksumFile}`)
    : readFileSync(join(root, checksumFile), 'utf8');
  const earlier: Record<string, string> = JSON.parse(text);
  const changed = Object.keys(earlier).filter((name) => checksums.get(name) !== earlier[name]);
  if (changed.length === 0) return null;
  return `these migrations differ from ${newest || checksumFile}: ${changed.join(', ')}; undo that, and add a migration instead`;
}

function hasDaemon(): boolean {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
}
