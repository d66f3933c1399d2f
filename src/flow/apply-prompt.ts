import { same } from '../core/declaration.ts';
import { CallFailure } from '../core/failure.ts';
import { placeholders } from '../core/prompt.ts';
import type { ModelSettings } from '../core/settings.ts';
import { findVersionLabeled } from '../store/declaration.ts';
import type { VersionRow } from '../store/versions.ts';
import type { Ground } from './apply-declaration.ts';
import { changePrompt, createPrompt } from './change-prompt.ts';
import { createVersion, type VersionInput } from './create-version.ts';

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

/** The prompt, and those of its versions that are declared; others are left alone. */
export async function applyPrompt(ground: Ground, declared: DeclaredPrompt): Promise<void> {
  const { trx, caller, prompts, changes } = ground;
  const { name, description = null, versions } = declared;
  const known = prompts.find(name);
  const prompt = known ?? (await createPrompt(trx, caller, { name, description }));
  if (!known) {
    changes.push({ kind: 'prompt', name, action: 'create' });
    prompts.put({ ...prompt, archived: false });
  } else if (known.description !== description) {
    await changePrompt(trx, caller, known.id, { description });
    const { description: from } = known;
    const change = { field: 'description', from, to: description };
    changes.push({ kind: 'prompt', name, action: 'change', ...change });
  }
  for (const version of versions) {
    const input = inputOf(version);
    const there = await findVersionLabeled(trx, prompt.id, version.label);
    if (there) refuseOther(there, input);
    else {
      await createVersion(trx, caller, prompt.id, input);
      changes.push({ kind: 'prompt', name, action: 'add-version', to: version.label });
    }
  }
}

function inputOf(version: DeclaredVersion): VersionInput {
  const { label, system = null, user, notes = null } = version;
  const { model = null, temperature = null, maxTokens = null, topP = null } = version;
  const variables = placeholders({ system, user });
  return { label, system, user, variables, notes, model, temperature, maxTokens, topP };
}

/** A version never changes. */
function refuseOther(there: VersionRow, input: VersionInput): void {
  const fields = ['system', 'user', 'model', 'temperature', 'maxTokens', 'topP', 'notes'] as const;
  const other = fields.filter((field) => !same(there[field], input[field]));
  if (other.length === 0) return;
  const message = `Version "${there.label}" is there with another ${other.join(', ')}, and a version never changes: give it another label.`;
  throw new CallFailure('CONFLICT', message);
}
