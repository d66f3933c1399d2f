import { existsSync } from 'node:fs';

/**
 * npm runs this in the root after every install. It builds the dashboard, or says in one sentence why it cannot. Plain
 * JavaScript: without the development packages, the Node that runs it is the one that runs npm, which may be old.
 */

if (existsSync('node_modules/vite')) {
  await import('vite').catch(explainMissing);
  await import('./build.ts');
} else if (!existsSync('dist/main.js')) {
  // What is built already needs no development packages.
  fail('The development packages are missing: run "npm ci --include=dev".');
}

/** Newer versions of npm do not install on such a Node (`devEngines`). Others leave out packages that it does not run. */
function explainMissing(error) {
  const [, version, ...parts] =
    /node\/v((\d+)\.(\d+)\S*)/.exec(process.env.npm_config_user_agent) ?? [];
  const [major, minor] = parts.map(Number);
  const runsVite =
    (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22 || !version;
  if (runsVite) throw error;
  fail(
    `Packages are missing that Node ${version} does not run: run "npm ci" on Node 20.19, 22.12, 24 or later.`,
  );
}

function fail(sentence) {
  console.error(`cueline: ${sentence}`);
  process.exit(1);
}
