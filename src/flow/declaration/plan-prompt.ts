import { same } from '../../core/agent/declaration.ts';
import type { ModelSettings } from '../../core/agent/model-settings.ts';
import { declarablePlaceholders } from '../../core/agent/prompt.ts';
import { CallFailure } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import { findVersionByLabel, type NamedPromptRow } from '../../store/agent/declaration.ts';
import type { VersionRow } from '../../store/agent/versions.ts';
import { changePrompt, createPrompt } from '../agent/change-prompt.ts';
import { createVersion, type VersionInput } from '../agent/create-version.ts';
import type { Ground } from './plan-declaration.ts';

export interface DeclaredPrompt {
  readonly name: string;
  readonly description?: string | null;
  readonly versions: readonly DeclaredVersion[];
}

interface DeclaredVersion extends Partial<ModelSettings> {
  readonly label: string;
  readonly system?: string | null;
  readonly user: string;
  readonly notes?: string | null;
}

/** A version that is to be made. */
export type PlannedVersion = VersionInput & {
  readonly id: string;
  readonly label: string;
  readonly variables: readonly string[];
};

/** The prompt, and those of its versions that are declared; others are left alone. */
export async function planPrompt(ground: Ground, declared: DeclaredPrompt): Promise<void> {
  const { caller, nowMs, prompts, changes, add } = ground;
  const { name, description = null, versions } = declared;
  const known = prompts.find(name);
  const prompt = known ?? { id: uuid7(nowMs), name, description, archived: false };
  if (!known) {
    changes.push({ kind: 'prompt', name, action: 'create' });
    prompts.put(prompt);
    add((trx) => createPrompt(trx, caller, { id: prompt.id, name, description }));
  } else if (known.description !== description) {
    const { description: from } = known;
    const change = { field: 'description', from, to: description };
    changes.push({ kind: 'prompt', name, action: 'change', ...change });
    add((trx) => changePrompt(trx, caller, known.id, { description }));
  }
  for (const version of versions) await planVersion(ground, prompt, version);
}

async function planVersion(
  { trx, caller, nowMs, versions, changes, add }: Ground,
  prompt: NamedPromptRow,
  declared: DeclaredVersion,
): Promise<void> {
  const { label } = declared;
  const input = { ...inputOf(declared), id: uuid7(nowMs), label };
  const place = `${prompt.id} ${label}`;
  const there = versions.get(place) ?? (await findVersionByLabel(trx, prompt.id, label));
  if (there) return refuseOther(there, input);
  if (prompt.archived) throw new CallFailure('CONFLICT', 'The prompt is archived.');
  versions.set(place, { ...input, variables: declarablePlaceholders(input) });
  changes.push({ kind: 'prompt', name: prompt.name, action: 'add-version', to: label });
  add((at) => createVersion(at, caller, prompt.id, input));
}

function inputOf(version: DeclaredVersion): VersionInput {
  const { label, system = null, user, notes = null } = version;
  const { model = null, temperature = null, maxTokens = null, topP = null } = version;
  return { label, system, user, notes, model, temperature, maxTokens, topP };
}

/** A version never changes. */
function refuseOther(there: VersionRow | PlannedVersion, input: VersionInput): void {
  const fields = ['system', 'user', 'model', 'temperature', 'maxTokens', 'topP', 'notes'] as const;
  const other = fields.filter((field) => !same(there[field], input[field]));
  if (other.length === 0) return;
  const message = `Version "${there.label}" is there with another ${other.join(', ')}, and a version never changes: give it another label.`;
  throw new CallFailure('CONFLICT', message);
}
