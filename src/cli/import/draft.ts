import type { Declaration } from '../../client/index.ts';
import { placeholders, type Template } from '../../core/agent/prompt.ts';
import { cleanName } from '../../core/people/name.ts';
import { isName, slugMax, slugOf } from '../../core/slug.ts';
import { declaredMax, nameMax } from '../../http/contract/contract-limits.ts';
import { CommandFailure } from '../client/command-failure.ts';
import type { Located } from './located.ts';

/** The declaration that an import writes, and remarks about what it could not carry over. */

export type DeclaredPrompt = NonNullable<Declaration['prompts']>[number];
export type DeclaredVersion = DeclaredPrompt['versions'][number];
export type ImportedAgent = NonNullable<Declaration['agents']>[number];
export type Example = NonNullable<ImportedAgent['examples']>[number];

/** The placeholders of a version. */
export function placeholdersOf({ system, user, messages }: DeclaredVersion): string[] {
  const template = { system: system ?? null, user: user ?? null, messages: messages ?? null };
  return placeholders(template as Template);
}

/** An agent without the names that the draft gives it. */
export interface NewAgent extends Omit<ImportedAgent, 'name' | 'slug' | 'aliases' | 'stage'> {
  /** The name in the other system. */
  readonly from: string;
  /** Names by which it is called there. */
  readonly knownAs?: readonly string[];
  /** Whether its version has a model. */
  readonly hasModel: boolean;
}

/** A model that only repeats the prompt. */
const echo = 'cueline/echo';

export class Draft {
  readonly prompts: DeclaredPrompt[] = [];
  readonly agents: ImportedAgent[] = [];
  readonly remarks: { readonly at: Located; readonly part?: string; readonly text: string }[] = [];
  /** The declaration as it is written, once it is. */
  written: Located | undefined;
  readonly #fallbackModel: string | undefined;
  readonly #promptNames = new Set<string>();
  readonly #agentNames = new Set<string>();
  readonly #slugs = new Set<string>();

  /** @param fallbackModel of agents for which none is known */
  constructor(fallbackModel?: string) {
    this.#fallbackModel = fallbackModel;
  }

  /** Says what is not carried over. With a part of the text, the remark is about the line with this part. */
  remark(at: Located, text: string, part?: string): void {
    this.remarks.push({ at, text, ...(part !== undefined && { part }) });
  }

  /** Adds a prompt and returns its name, which is unique. */
  addPrompt(from: string, versions: DeclaredVersion[], description?: string): string {
    this.#requireRoom(this.prompts, 'prompts');
    const name = unique(
      cleanName(from, 'Prompt').slice(0, nameMax),
      nameMax,
      ' ',
      this.#promptNames,
    );
    this.prompts.push({ name, ...(description !== undefined && { description }), versions });
    return name;
  }

  /** Adds a deployed agent. Its slug follows from its name. */
  addAgent(at: Located, { from, knownAs = [], hasModel, ...settings }: NewAgent): void {
    this.#requireRoom(this.agents, 'agents');
    const name = unique(cleanName(from, 'Agent').slice(0, nameMax), nameMax, ' ', this.#agentNames);
    const slug = unique(slugOf(name) ?? 'agent', slugMax, '-', this.#slugs);
    const aliases = knownAs.filter((alias) => alias !== slug && this.#isFree(at, alias));
    const { prompt, version, agentConfig, ...rest } = settings;
    const model = agentConfig?.model ?? (hasModel ? undefined : (this.#fallbackModel ?? echo));
    if (model === echo && agentConfig?.model === undefined) {
      const text = `No model is known for "${name}": it stays a draft with ${echo}, which repeats the prompt. Set agentConfig.model, or import again with --model.`;
      this.remark(at, text);
    }
    const config = { ...(model !== undefined && { model }), ...agentConfig };
    this.agents.push({
      name,
      slug,
      ...(aliases.length > 0 && { aliases }),
      prompt,
      version,
      stage: isUnknown(model, agentConfig) ? 'Draft' : 'Deployed',
      ...(Object.keys(config).length > 0 && { agentConfig: config }),
      ...rest,
    });
  }

  #isFree(at: Located, alias: string): boolean {
    if (!isName(alias)) {
      const text = `"${alias}" is not carried over as an alias, which has letters, digits, ".", "_", ":" and "-": call the agent by its slug.`;
      this.remark(at, text);
      return false;
    }
    if (this.#slugs.has(alias)) {
      this.remark(at, `"${alias}" is not carried over as an alias: another agent has this name.`);
      return false;
    }
    this.#slugs.add(alias);
    return true;
  }

  #requireRoom(list: readonly unknown[], kind: string): void {
    if (list.length < declaredMax) return;
    const message = `There are more than ${declaredMax} ${kind}, which one file cannot have. Import them in parts.`;
    throw new CommandFailure(message);
  }
}

function isUnknown(model: string | undefined, config: ImportedAgent['agentConfig']): boolean {
  return model === echo && config?.model === undefined;
}

/** The name, or with the first free number: `-2`, `-3`, … */
function unique(name: string, charsMax: number, separator: string, used: Set<string>): string {
  let candidate = name;
  for (let number = 2; used.has(candidate); number++) {
    const ending = `${separator}${number}`;
    candidate = name.slice(0, charsMax - ending.length) + ending;
  }
  used.add(candidate);
  return candidate;
}
