import { dirname } from 'node:path';
import { isObject } from '../../core/is-object.ts';
import { words } from '../../core/words.ts';
import { descriptionMax } from '../../http/contract/contract-limits.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { readInput } from '../client/input.ts';
import { type DeclaredVersion, type Draft, placeholdersOf } from './draft.ts';
import { type Located, readYaml } from './located.ts';
import { type PromptfooPrompt, readPrompts } from './promptfoo-prompts.ts';
import { type PromptfooProvider, readProviders } from './promptfoo-providers.ts';
import { exampleOf, type PromptfooTest, readTests } from './promptfoo-tests.ts';

/**
 * A configuration of promptfoo. Each prompt becomes a prompt with one version; it has an agent for each provider that it is
 * tried with, and the agent has the tests as examples. Programs in any place are not run.
 */

const members = words('prompts providers targets tests defaultTest description $schema');

export async function importPromptfoo(
  draft: Draft,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const config = readYaml(await readInput(file, signal), file);
  if (!isObject(config.value))
    throw new CommandFailure(`${file} must contain an object with prompts.`);
  for (const [name, at] of config.members()) {
    if (!members.includes(name)) draft.remark(at, `"${name}" is not carried over.`);
  }
  const source = { draft, signal, folder: dirname(file) };
  const description = config.get('description').text();
  const prompts = await readPrompts(source, config.get('prompts'), description);
  const providers = await readProviders(source, providersOf(config));
  const tests = await readTests(source, config.get('tests'), config.get('defaultTest'));
  for (const prompt of prompts) {
    const used = providers.filter(({ prompts: labels }) => fits(labels, prompt.labels));
    addPrompt(draft, prompt, { used, tests, description: description?.slice(0, descriptionMax) });
  }
}

interface TriedWith {
  readonly used: readonly PromptfooProvider[];
  readonly tests: readonly PromptfooTest[];
  readonly description: string | undefined;
}

function addPrompt(
  draft: Draft,
  prompt: PromptfooPrompt,
  { used, tests, description }: TriedWith,
): void {
  const [only] = used.length === 1 ? used : [];
  const version: DeclaredVersion = { label: 'v1', ...prompt.content, ...only?.offered };
  const name = draft.addPrompt(prompt.name, [version], description);
  const variables = placeholdersOf(version);
  for (const provider of used.length > 0 ? used : [null]) {
    const examples = tests
      .filter((test) => fits(test.providers, provider?.labels ?? []))
      .filter((test) => fits(test.prompts, prompt.labels))
      .map((test) => exampleOf(test, variables));
    draft.addAgent(provider?.at ?? prompt.at, {
      from: used.length < 2 ? name : `${name} (${provider?.name})`,
      prompt: name,
      version: 'v1',
      hasModel: provider !== null,
      ...(provider && { agentConfig: provider.config }),
      ...(examples.length > 0 && { examples }),
    });
    if (provider && !only && provider.offered.tools) {
      const text = `The tools are not carried over: they belong to the version of "${name}", which several providers share.`;
      draft.remark(provider.at, text);
    }
  }
}

function providersOf(config: Located): Located {
  const providers = config.get('providers');
  return providers.value === undefined ? config.get('targets') : providers;
}

function fits(filters: readonly string[] | null, labels: readonly string[]): boolean {
  return filters === null || filters.some((filter) => matches(filter, labels));
}

/** A label, the beginning of one before a colon, or a beginning and `*`. */
function matches(filter: string, labels: readonly string[]): boolean {
  const start = filter.endsWith('*') ? filter.slice(0, -1) : `${filter}:`;
  return labels.some((label) => label === filter || label.startsWith(start));
}
