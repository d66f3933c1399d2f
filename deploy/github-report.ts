import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The step of action.yml: runs `cueline diff` and `cueline test`, and shows both in the summary of the job and, for a pull
 * request, in one comment that later runs update. Fails as they do, but not for differences, which are expected.
 */

const { env } = process;
const main = join(import.meta.dirname, '../src/main.ts');
const api = env.GITHUB_API_URL ?? 'https://api.github.com';
const file = env.DECLARATION || 'cueline.yaml';

/** Finds the comment of an earlier run with the same server and mode: one pull request may be tested against several. */
const settings = JSON.stringify([env.CUELINE_URL, env.PINNED === 'true']);
const settingsHash = createHash('sha256').update(settings).digest('hex').slice(0, 16);
const marker = `<!-- cueline ${file} ${settingsHash} -->`;
/** GitHub's limit is 65,536 for the whole comment. */
const outputCharsMax = 30_000;

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(...args: string[]): Outcome {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  return { code: status ?? 1, output: `${stdout}${stderr}${error ?? ''}`.trim() };
}

const tests = [
  ...(env.PINNED === 'true' ? ['--pinned'] : []),
  ...(env.JUNIT ? ['--junit', env.JUNIT] : []),
];
const diff = run('diff', file, '--exit-code');
const test = run('test', file, ...tests);
const titles = {
  diff: ['no changes', 'error', 'changes'],
  test: ['all passed', 'failed', 'could not be run'],
};
const report = [
  marker,
  section(`\`${file}\`: ${titles.diff[diff.code] ?? 'error'}`, diff.output),
  section(`Examples: ${titles.test[test.code] ?? 'error'}`, test.output),
].join('\n');

printText(report);
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, `${report}\n`);
if (env.GITHUB_OUTPUT) {
  const outputs = `diff-exit-code=${diff.code}\ntest-exit-code=${test.code}\n`;
  appendFileSync(env.GITHUB_OUTPUT, outputs);
}
await comment(report).catch((error: Error) => {
  // A pull request from a fork has a token that only reads.
  console.log(`::warning::No comment: ${escaped(error.message)}`);
});
process.exitCode = diff.code === 1 ? 1 : test.code;

/** Names and answers may have lines that the runner would take for its commands: it takes none until the token. */
function printText(text: string): void {
  const token = randomUUID();
  console.log(`::stop-commands::${token}\n${text}\n::${token}::`);
}

/** The message of a command is one line. */
function escaped(message: string): string {
  return message.replaceAll(/[%\r\n]/g, encodeURIComponent);
}

/** What a model wrote stays text: no mentions, no links, no end of the block. */
function section(title: string, output: string): string {
  const cut = output.length > outputCharsMax ? `${output.slice(0, outputCharsMax)}\n…` : output;
  const longest = Math.max(2, ...[...cut.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `### ${title}\n\n${fence}\n${cut}\n${fence}\n`;
}

async function comment(body: string): Promise<void> {
  const number = env.GITHUB_EVENT_PATH
    ? JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8')).pull_request?.number
    : undefined;
  if (!number || !env.TOKEN) return;
  const repository = `${api}/repos/${env.GITHUB_REPOSITORY}`;
  const comments = `${repository}/issues/${number}/comments`;
  const earlier = await findComment(comments);
  if (earlier === null) await call('POST', comments, { body });
  else await call('PATCH', `${repository}/issues/comments/${earlier}`, { body });
}

/** Anyone can write the marker: only a comment of the token's own user is updated. */
async function findComment(comments: string): Promise<number | null> {
  const own = await ownLogin();
  const isOwn = ({ user }: Comment) => (own === null ? user?.type === 'Bot' : user?.login === own);
  const size = 100;
  for (let page = 1; ; page++) {
    const found = (await call('GET', `${comments}?per_page=${size}&page=${page}`)) as Comment[];
    const earlier = found.find((one) => one.body?.startsWith(marker) && isOwn(one));
    if (earlier) return earlier.id;
    if (found.length < size) return null;
  }
}

interface Comment {
  readonly id: number;
  readonly body?: string;
  readonly user?: { readonly login: string; readonly type: string } | null;
}

/** Null for the token of a job, which belongs to a bot and may not read who it is. */
async function ownLogin(): Promise<string | null> {
  const own = (await call('GET', `${api}/user`, undefined, 403)) as { login: string } | null;
  return own?.login ?? null;
}

/** With a status that is expected, `null` for it. */
async function call(
  method: string,
  url: string,
  body?: object,
  expected?: number,
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${env.TOKEN}`, accept: 'application/vnd.github+json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response.json();
  if (response.status === expected) return null;
  throw new Error(`${method} ${url} returned ${response.status}.`);
}
