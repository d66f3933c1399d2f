import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { skipWithout } from '../../harness/clients.ts';
import { buildClientPackage } from '../../release/client-package.ts';
import { wireTypes } from '../../src/faces/reference/wire-types.ts';

/** The types of the client's package in projects with only TypeScript. */

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Maximum length of compiler errors in a message. */
const shownCharsMax = 2_000;
let folder: string;
/**
 * Folder of the built client. It keeps the folder structure, because the compiled files are in two
 * folders.
 */
let client: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cueline-types-'));
  client = join(folder, 'built', root, 'src/client');
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
after(() => rm(folder, { recursive: true }));

/** The compiler's errors. */
async function compile(
  config: object,
  compiler = join(root, 'node_modules/typescript'),
): Promise<string> {
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(compiler, 'bin/tsc');
  return run(process.execPath, [tsc, '-p', folder]).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  );
}

test('the types match the contract without dependencies, and misuse is a compile error', async () => {
  await writeFile(join(folder, 'flat.d.ts'), wireTypes());
  await writeFile(
    join(folder, 'same.ts'),
    `import type * as flat from './flat.d.ts';
     import type * as wire from '${root}/src/client/wire.ts';
     type Plain<T> = T extends (infer One)[] ? Plain<One>[]
       : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
     type RecordedRequest<T> = <X>() => X extends Plain<T> ? 1 : 2;
     type Same<A, B> = RecordedRequest<A> extends RecordedRequest<B> ? true : false;
     type Differing<A, B> = {
       [K in keyof A | keyof B]: K extends keyof A & keyof B
         ? Same<A[K], B[K]> extends true ? never : K : K;
     }[keyof A | keyof B];
     const differing: Differing<flat.Operations, wire.Operations>[] = [];
     export const none: never[] = differing;
     export const others: [
       Same<flat.ProblemCode, wire.ProblemCode>,
       Same<flat.Execution, wire.Execution>,
       Same<flat.ExecutionDetail, wire.ExecutionDetail>,
       Same<flat.WorkflowRunDetail, wire.WorkflowRunDetail>,
       Same<flat.WebhookData, wire.WebhookData>,
     ] = [true, true, true, true, true];`,
  );
  const output = await compile({
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: {
      emitDeclarationOnly: true,
      rootDir: '/',
      outDir: join(folder, 'built'),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: [join(root, 'src/client/index.ts'), join(folder, 'same.ts')],
  });
  assert.equal(output.slice(0, shownCharsMax), '');
  await writeFile(join(client, 'wire.d.ts'), wireTypes());
  for (const file of await readdir(client)) {
    const text = await readFile(join(client, file), 'utf8');
    assert.doesNotMatch(text, /from '(?!\.\/)|import\("(?!\.\/)|\bBuffer\b|\bNodeJS\b/, file);
  }
});

/** Compilers and the ways in which they find a package. */
const [current, former] = ['typescript', 'test/clients/node_modules/typescript-5'];
const all = ['consumer.ts', 'consumer.cts', 'copied.ts'];
const compilers = [
  { name: current, options: { module: 'nodenext' }, files: all },
  { name: current, options: { module: 'esnext', moduleResolution: 'bundler' }, files: all },
  { name: former, options: { module: 'node16' }, files: all },
  { name: former, options: { module: 'commonjs', moduleResolution: 'node10' }, files: all },
];

for (const { name, options, files } of compilers) {
  const title = [name.split('/').at(-1), ...Object.values(options)].join(', ');
  const skip = name === former && skipWithout('typescript-5');
  test(`the package types its users: ${title}`, { skip }, async () => {
    const installed = await builtPackage();
    await writeFile(join(folder, 'consumer.ts'), consumer('cueline-client'));
    await writeFile(join(folder, 'consumer.cts'), consumer('cueline-client'));
    await cp(installed, join(folder, 'copied'), { recursive: true });
    await writeFile(join(folder, 'copied.ts'), consumer('./copied/index.js'));
    const compilerOptions = {
      ...{ strict: true, skipLibCheck: false, noEmit: true, types: [], target: 'es2022' },
      ...{ lib: ['es2022', 'dom', 'dom.asynciterable'], ...options },
    };
    const program =
      name === 'typescript' ? join(root, 'node_modules/typescript') : join(root, name);
    assert.equal((await compile({ compilerOptions, files }, program)).slice(0, shownCharsMax), '');
  });
}

let built: Promise<string> | undefined;

/** The package, built once for all tests. */
function builtPackage(): Promise<string> {
  const installed = join(folder, 'node_modules/cueline-client');
  built ??= buildClientPackage(installed).then(() => installed);
  return built;
}

/** In functions: modules of CommonJS have no `await` outside of them. */
function consumer(module: string): string {
  return `import { createClient, CuelineError, verifyWebhook, type WebhookEvent } from '${module}';
     const cueline = createClient({ baseURL: '', key: 'cue_x' });
     export async function use() {
       const run = await cueline.executeAndWait<{ mood: 'good' | 'bad' }>('agt_x', { topic: 'tides' });
       const spent: number | undefined = run.costUSD;
       const text: string | undefined = run.outputText;
       const mood: 'good' | 'bad' | undefined = run.outputJson?.mood;
       for await (const { executionId } of cueline.listAll('agt_x', { 'variables.a': 'b' })) {
         executionId.toUpperCase();
       }
       await cueline.agents.update('agt_x', { agentConfig: { topP: null } });
       // @ts-expect-error: it is none of its fields.
       run.outputJson?.moods;
       // @ts-expect-error: it has ended.
       run.status === 'processing';
       // @ts-expect-error: there is no such field.
       run.outputTexts;
       // @ts-expect-error: it is a text.
       await cueline.status(1, 'exe_x');
       // @ts-expect-error: there is no such stage.
       await cueline.agents.list({ status: 'Done' });
       // @ts-expect-error: a name is missing.
       await cueline.prompts.create({});
       // @ts-expect-error: there is no such route.
       await cueline.request('GET /api/v1/nothing', {});
       return [spent, text, mood];
     }
     export async function receive(request: Request): Promise<string> {
       const event: WebhookEvent = await verifyWebhook(await request.text(), request.headers, 'whsec_x');
       if (event.type === 'agent.moved') {
         // @ts-expect-error: it is no execution.
         event.data.executionId;
         return event.data.status;
       }
       // @ts-expect-error: there is no such type.
       if (event.type === 'nothing') return '';
       return event.type === 'execution.failed' ? (event.data.errorCode ?? '') : event.id;
     }
     export const known = (error: unknown) => error instanceof CuelineError && error.code === 'QUOTA_EXCEEDED';
     // @ts-expect-error: there is no such code.
     export const none = (error: CuelineError) => error.code === 'NONE';`;
}
