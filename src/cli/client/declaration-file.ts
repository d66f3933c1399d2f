import type { Declaration } from '../../client/index.ts';
import { isObject } from '../../core/is-object.ts';
import { DeclaredExamples } from '../../features/declaration/declaration-contract.ts';
import { type Example, expectationProblem } from '../../features/declaration/rules/example.ts';
import { validationErrors } from '../../http/request/validate.ts';
import { CommandFailure } from './command-failure.ts';
import { readInput } from './input.ts';
import { printNotice } from './print.ts';
import { withSecrets } from './tool-server-secrets.ts';
import { readYaml, type YamlPath, type YamlValue } from './yaml.ts';

/** Reads `cueline.yaml`. Examples are checked here and stay in the file; the server checks the rest. */

export type DeclaredAgent = NonNullable<Declaration['agents']>[number];

export interface DeclarationFile {
  /** What the server gets: without the examples. */
  readonly declaration: Declaration;
  /** Agents with examples. */
  readonly suites: readonly ExampleSuite[];
}

export interface ExampleSuite {
  readonly agent: DeclaredAgent;
  readonly examples: readonly PlacedExample[];
}

/** An example with its name, or its position without one, and its line in the file. */
export interface PlacedExample extends Example {
  readonly name: string;
  readonly line: number;
}

export async function readDeclaration(file: string, signal: AbortSignal): Promise<DeclarationFile> {
  const yaml = readYaml(await readInput(file, signal), file);
  if (yaml.value === null) return { declaration: {}, suites: [] };
  if (!isObject(yaml.value)) {
    throw new CommandFailure(`${file} must contain an object with prompts, agents or workflows.`);
  }
  // The server validates the rest.
  const { agents, ...given } = yaml.value as Declaration;
  const { toolServers } = given;
  const others = Array.isArray(toolServers)
    ? { ...given, toolServers: toolServers.map(withSecrets) }
    : given;
  if (!Array.isArray(agents)) {
    return { declaration: { ...others, ...(agents !== undefined && { agents }) }, suites: [] };
  }
  requireValidExamples(agents, yaml, file);
  const suites: ExampleSuite[] = [];
  const bare = agents.map((one, at) => {
    if (!isObject(one) || !('examples' in one)) return one;
    const { examples, ...agent } = one as DeclaredAgent;
    if (examples?.length) suites.push({ agent, examples: examples.map(placed(yaml, at)) });
    return agent;
  });
  return { declaration: { ...others, agents: bare }, suites };
}

/** By agent, as they are: valid or not. */
export async function readExamples(
  file: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DeclaredAgent['examples']>> {
  const { value } = readYaml(await readInput(file, signal), file);
  const agents = isObject(value) ? value.agents : null;
  const withSome = (Array.isArray(agents) ? agents : []).filter(
    (one) => isObject(one) && one.examples,
  );
  return new Map(withSome.map(({ name, examples }) => [name, examples]));
}

function placed({ lineOf }: YamlValue, agentAt: number) {
  return (example: Example, at: number): PlacedExample => ({
    ...example,
    name: example.name ?? `example ${at + 1}`,
    line: lineOf(['agents', agentAt, 'examples', at]),
  });
}

/** Prints each problem with its place, and throws if there is one. */
function requireValidExamples(agents: readonly unknown[], yaml: YamlValue, file: string): void {
  let count = 0;
  const report = (path: YamlPath, message: string) => {
    count++;
    printNotice(`${file}:${yaml.lineOf(path)}: ${message}`);
  };
  for (const [at, agent] of agents.entries()) {
    if (!isObject(agent) || !('examples' in agent)) continue;
    const { examples } = agent;
    // An unknown field is reported twice.
    const errors = new Map(
      validationErrors(DeclaredExamples, { examples }).map(({ path, message }) => [message, path]),
    );
    for (const [message, path] of errors) report(['agents', at, ...pathOf(path)], message);
    if (errors.size > 0) continue;
    for (const [index, { expect }] of (examples as Example[]).entries()) {
      const found = expectationProblem(expect);
      if (found) report(['agents', at, 'examples', index, 'expect', found.field], found.problem);
    }
  }
  if (count > 0) throw new CommandFailure(`${file} has examples that are not valid (${count}).`);
}

/** `examples.0.expect` as a path in the file. A name with dots leads to the line of what contains it. */
function pathOf(path: string): YamlPath {
  return path.split('.').map((name) => (/^\d+$/.test(name) ? Number(name) : name));
}
