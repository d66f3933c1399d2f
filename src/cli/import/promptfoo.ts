import { dirname } from 'node:path';
import { placeholders } from '../../core/agent/prompt.ts';
import { isObject } from '../../core/is-object.ts';
import { CommandFailure } from '../client/failure.ts';
import { readInput } from '../client/input.ts';
import type { Draft } from './draft.ts';
import { type Located, readYaml } from './located.ts';
import { type PromptfooPrompt, readPrompts } from './promptfoo-prompts.ts';
import { type PromptfooProvider, readProviders } from './promptfoo-providers.ts';
import { examplesOf, readTests } from './promptfoo-tests.ts';

/**
 * A configuration of promptfoo. Each prompt becomes a prompt with one version; it has an agent for each provider that it is
 * tried with, and the agent has the tests as examples. Programs in any place are not run.
 */

/** What an import reads from. */
export interface PromptfooSource {
  readonly draft: Draft;
  readonly folder: string;
  readonly signal: AbortSignal;
}

const members = [
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'description',
  '$schema',
];

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
    const version = { label: 'v1', ...prompt.content };
    const name = draft.addPrompt(prompt.name, [version], description?.slice(0, 2_000));
    const used = providers.filter(
      ({ prompts: only }) => only === null || only.some((label) => matches(label, prompt.labels)),
    );
    for (const provider of used.length > 0 ? used : [null]) {
      addAgent(draft, { prompt, name, provider, isOnly: used.length < 2 });
    }
  }

  function addAgent(
    draft: Draft,
    {
      prompt,
      name,
      provider,
      isOnly,
    }: {
      prompt: PromptfooPrompt;
      name: string;
      provider: PromptfooProvider | null;
      isOnly: boolean;
    },
  ): void {
    const variables = placeholders({ system: null, user: null, ...prompt.content } as never);
    const examples = tests
      .filter(
        (test) => fits(test.providers, provider?.labels ?? []) && fits(test.prompts, prompt.labels),
      )
      .flatMap((test) => examplesOf(test, variables));
    draft.addAgent(provider?.at ?? prompt.at, {
      from: isOnly ? name : `${name} (${provider?.name})`,
      ...{ prompt: name, version: 'v1', hasModel: provider !== null },
      ...(provider && { agentConfig: provider.config }),
      ...(examples.length > 0 && { examples }),
    });
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
