import type { ToolServerInput, ToolServerPatch } from '../../client/index.ts';
import { isObject } from '../../core/is-object.ts';
import { CommandFailure } from './command-failure.ts';
import { readInput } from './input.ts';
import { printList, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline tool-servers tools`, `create`, `update`, `check` and `try`. Settings come from a file: other processes can see arguments. */

export async function listTools(
  { cueline, signal, json }: Call,
  given: { readonly server?: string },
): Promise<void> {
  const tools = await cueline.tools.list(given, { signal });
  await printList(tools, ['server', 'tool', 'description'], json);
}

export async function createToolServer(
  { cueline, signal, json }: Call,
  file: string,
): Promise<void> {
  const settings = (await readSettings(file, signal)) as unknown as ToolServerInput;
  const { tools, ...created } = await cueline.toolServers.create(settings, { signal });
  await printOne({ ...created, tools: tools.map(({ name }) => name) }, json);
}

export async function updateToolServer(
  { cueline, signal, json }: Call,
  id: string,
  file: string,
): Promise<void> {
  const settings = (await readSettings(file, signal)) as ToolServerPatch;
  const { tools, ...changed } = await cueline.toolServers.update(id, settings, { signal });
  await printOne({ ...changed, tools: tools.map(({ name }) => name) }, json);
}

export async function checkToolServer({ cueline, signal, json }: Call, id: string): Promise<void> {
  const { problem, ...checked } = await cueline.toolServers.check(id, { signal });
  await printOne({ ...checked, problem }, json);
  if (problem !== null) throw new CommandFailure(`The check of the tool server found: ${problem}`);
}

/** Fails unless the tool answers without an error. */
export async function tryTool(
  { cueline, signal, json }: Call,
  id: string,
  tool: string,
  { argumentsFile }: { readonly argumentsFile?: string },
): Promise<void> {
  const given = argumentsFile === undefined ? {} : await readSettings(argumentsFile, signal);
  const tried = await cueline.toolServers.try(id, tool, given, { signal });
  await printOne(tried, json);
  if (tried.isError) throw new CommandFailure(`The call of ${tool} did not succeed.`);
}

async function readSettings(file: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const text = await readInput(file, signal);
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (isObject(value)) return value;
  } catch {
    // The parser's message would quote the file.
  }
  throw new CommandFailure(`${file} is not a JSON object.`);
}
