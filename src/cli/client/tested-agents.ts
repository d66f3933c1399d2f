import { randomUUID } from 'node:crypto';
import {
  type Cueline,
  CuelineError,
  type Declaration,
  type DeclarationChange,
} from '../../client/index.ts';
import { slugOf } from '../../core/slug.ts';
import { nameMax } from '../../http/contract/contract-limits.ts';
import { CommandFailure } from './command-failure.ts';
import type { DeclarationFile, DeclaredAgent, ExampleSuite } from './declaration-file.ts';
import { printNotice } from './print.ts';

/**
 * The agents that examples call.
 *
 * The file is tested before it is applied, so a declared agent is created once more for the time of the test: private,
 * deployed, with its declared settings, without limits and other names. It pins the declared version. One that the
 * workspace does not have yet is created in a prompt of its own, because a version is immutable: the label of a draft
 * must not be taken by a test. Afterwards the agents are deleted, which hides their records, and the prompts archived.
 */

export interface TestedAgents {
  /** The slug to call, by the name of the agent. */
  readonly slugs: ReadonlyMap<string, string>;
  /** Removes what was created. Never throws. */
  readonly remove: () => Promise<void>;
}

/** Finds temporary agents that a killed test has left. */
const testTag = 'cueline-test';

interface Source {
  readonly cueline: Cueline;
  readonly signal: AbortSignal;
}

/** The agents as the workspace has them. */
export async function pinnedAgents(
  { cueline, signal }: Source,
  suites: readonly ExampleSuite[],
): Promise<TestedAgents> {
  const { declaration, omitted } = await cueline.declaration.read({ signal });
  const { agents = [] } = declaration;
  const slugs = suites.map(({ agent: { name } }) => {
    const found = agents.find((one) => one.name === name);
    const slug = found && (found.slug ?? slugOf(name));
    if (slug) return [name, slug] as const;
    const reason = omitted.find((one) => one.kind === 'agent' && one.name === name)?.reason;
    throw new CommandFailure(
      reason === undefined
        ? `The workspace has no agent "${name}" yet: apply the file, or test without --pinned.`
        : `The agent "${name}" of the workspace is not known: ${reason}`,
    );
  });
  return { slugs: new Map(slugs), remove: async () => {} };
}

/** The agents as the file declares them. Refuses what `apply` would refuse. */
export async function declaredAgents(
  { cueline, signal }: Source,
  { declaration }: DeclarationFile,
  suites: readonly ExampleSuite[],
): Promise<TestedAgents> {
  const { changes } = await cueline.declaration.apply(declaration, true, { signal });
  const temporary = temporaryDeclaration(declaration, changes, suites);
  const { prompts = [], agents = [] } = temporary;
  const slugs = agents.flatMap(({ slug = '' }, at) => {
    const suite = suites[at];
    return suite ? [[suite.agent.name, slug] as const] : [];
  });
  const remove = async () => {
    for (const [, slug] of slugs) await removing(slug, () => removeAgent(cueline, slug));
    for (const { name } of prompts) await removing(name, () => archivePrompt(cueline, name));
  };
  try {
    // Not aborted by an interrupt: what it creates must be removed.
    await cueline.declaration.apply(temporary, false);
  } catch (error) {
    // Unless it was refused, the server may have created them: only the response is lost.
    if (!isRefusal(error)) await remove();
    throw error;
  }
  return { slugs: new Map(slugs), remove };
}

function temporaryDeclaration(
  { prompts = [] }: Declaration,
  changes: readonly DeclarationChange[],
  suites: readonly ExampleSuite[],
): Declaration {
  const run = randomUUID().slice(0, 8);
  // Numbered, because long names are cut.
  const temporaryName = (at: number, name: string) =>
    `Test ${run}-${at + 1}: ${name}`.slice(0, nameMax);
  const isNew = (prompt: string, label: string) =>
    changes.some(
      ({ kind, name, action, to }) =>
        kind === 'prompt' && name === prompt && action === 'add-version' && to === label,
    );
  const isTested = (prompt: string, label: string) =>
    suites.some(({ agent }) => agent.prompt === prompt && agent.version === label);
  const drafts = prompts.flatMap(({ name, versions }, at) => {
    const tested = versions.filter(({ label }) => isNew(name, label) && isTested(name, label));
    return tested.length === 0
      ? []
      : [{ of: name, name: temporaryName(at, name), versions: tested }];
  });
  const agents = suites.map(({ agent }, at) => {
    const draft = isNew(agent.prompt, agent.version)
      ? drafts.find(({ of }) => of === agent.prompt)
      : undefined;
    return temporaryAgent(agent, {
      name: temporaryName(at, agent.name),
      slug: `test-${run}-${at + 1}`,
      prompt: draft?.name ?? agent.prompt,
    });
  });
  return { prompts: drafts.map(({ of: _, ...draft }) => draft), agents };
}

function temporaryAgent(
  declared: DeclaredAgent,
  names: Pick<DeclaredAgent, 'name' | 'slug' | 'prompt'>,
): DeclaredAgent {
  const {
    aliases: _,
    versionAliases: __,
    rateLimits: ___,
    allowedOrigins: ____,
    ...agent
  } = declared;
  return {
    ...agent,
    ...names,
    description: `Created by "cueline test" for the time of a test of ${declared.name}.`.slice(
      0,
      nameMax,
    ),
    stage: 'Deployed',
    apiEnabled: true,
    visibility: 'private',
    tags: [testTag],
  };
}

async function removeAgent(cueline: Cueline, slug: string): Promise<void> {
  await cueline.agents.move(slug, 'disable');
  await cueline.agents.delete(slug);
}

async function archivePrompt(cueline: Cueline, name: string): Promise<void> {
  const { prompts } = await cueline.prompts.list({ q: name });
  for (const { promptId } of prompts) await cueline.prompts.archive(promptId);
}

async function removing(name: string, remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (error instanceof CuelineError && error.status === 404) return;
    printNotice(`Not removed: ${name}. ${(error as Error).message}`);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CuelineError && error.status >= 400 && error.status < 500;
}
