import type { Visibility } from '../../../core/agent/agent.ts';
import { callSettingNames } from '../../../core/agent/call-settings.ts';
import { messageLists } from '../../../core/agent/messages.ts';
import { fileVariables, placeholderWarnings } from '../../../core/agent/prompt.ts';
import type { ResponseFormat } from '../../../core/agent/response-format.ts';
import type { VariableSchemas } from '../../../core/agent/variable-schemas.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { identical, same } from '../../../core/json.ts';
import { referenceOf, shortest, type ToolReference } from '../../../core/tools/tool-reference.ts';
import { requireSchemas, requireToolSchemas } from '../../../engine/compute/require-schemas.ts';
import type { VersionRow } from '../../prompts/statements/versions.ts';
import { changePrompt, createPrompt } from '../../prompts/verbs/change-prompt.ts';
import {
  createVersion,
  requireValid,
  type VersionFields,
  type VersionInput,
  versionInput,
} from '../../prompts/verbs/create-version.ts';
import { readTools } from '../../tools/verbs/freeze-tools.ts';
import { findVersionByLabel, type NamedPromptRow } from '../statements/declaration-statements.ts';
import type { PlannedVersion, Planning } from './planning.ts';

export interface DeclaredPrompt {
  readonly name: string;
  readonly description?: string | null;
  readonly visibility?: Visibility;
  readonly versions: readonly DeclaredVersion[];
}

interface DeclaredVersion extends VersionFields {
  readonly label: string;
}

/** Plans a prompt and its declared versions. Other versions stay. */
export async function planPrompt(planning: Planning, declared: DeclaredPrompt): Promise<void> {
  const { caller, nowMs, prompts, changes, add } = planning;
  const { name, description = null, versions } = declared;
  const known = prompts.find(name);
  const visibility = declared.visibility ?? known?.visibility ?? 'private';
  const prompt = known ?? { id: uuid7(nowMs), name, description, visibility, archived: false };
  if (!known) {
    changes.push({ kind: 'prompt', name, action: 'create' });
    prompts.put(prompt);
    add((trx) => createPrompt(trx, caller, { id: prompt.id, name, description, visibility }));
  } else {
    const declaredNow = { description, visibility };
    const fields = (['description', 'visibility'] as const).filter(
      (field) => known[field] !== declaredNow[field],
    );
    for (const field of fields) {
      const change = { field, from: known[field], to: declaredNow[field] };
      changes.push({ kind: 'prompt', name, action: 'change', ...change });
    }
    if (fields.length > 0) add((trx) => changePrompt(trx, caller, known.id, declaredNow));
  }
  for (const version of versions) await planVersion(planning, prompt, version);
}

async function planVersion(
  planning: Planning,
  prompt: NamedPromptRow,
  declared: DeclaredVersion,
): Promise<void> {
  const { trx, compute, caller, nowMs, versions, changes, add } = planning;
  const { label } = declared;
  const input = { ...versionInput(declared), id: uuid7(nowMs), label };
  const key = `${prompt.id} ${label}`;
  const existing = versions.get(key) ?? (await findVersionByLabel(trx, prompt.id, label));
  if (existing) return requireEqual(existing, input);
  if (prompt.archived) throw new CallFailure('CONFLICT', 'The prompt is archived.');
  const variables = requireValid(input);
  await requireTools(planning, input.toolReferences ?? []);
  await requireSchemas(compute, caller.workspaceId, input);
  await requireToolSchemas(compute, caller.workspaceId, input.tools ?? []);
  versions.set(key, {
    ...input,
    variables,
    messageLists: messageLists(input.messages),
    fileVariables: fileVariables(input.messages),
  });
  const warnings = placeholderWarnings(input);
  const added = { kind: 'prompt', name: prompt.name, action: 'add-version', to: label } as const;
  changes.push({ ...added, ...(warnings.length > 0 && { warnings }) });
  add((at) => createVersion(at, caller, prompt.id, input));
}

/** Tools of servers that the declaration does not change are checked as they are, the others when they are there. */
async function requireTools(
  { trx, caller, toolServers }: Planning,
  references: readonly ToolReference[],
): Promise<void> {
  const existing = references.filter(({ server }) => !toolServers.has(server));
  if (existing.length > 0) await readTools(trx, caller, existing);
  for (const { server, tool } of references) {
    if (toolServers.get(server)?.has(tool) ?? true) continue;
    throw invalidRequest(`The tool server "${server}" has no tool "${tool}".`);
  }
}

/** A version never changes. */
function requireEqual(existing: VersionRow | PlannedVersion, input: VersionInput): void {
  const fields = [
    ...(['system', 'user', 'messages', 'toolChoice'] as const),
    ...(['model', 'temperature', 'maxTokens', 'topP', 'notes'] as const),
  ];
  const different = [
    ...fields.filter((field) => !same(existing[field], input[field])),
    ...(same(toolsOf(existing), toolsOf(input)) ? [] : ['tools']),
    ...callSettingNames.filter(
      (name) => !same(existing.settings[name] ?? null, input.settings[name] ?? null),
    ),
    ...(identical(formatOf(existing), formatOf(input)) ? [] : ['responseFormat']),
    ...(same(schemasOf(existing), schemasOf(input)) ? [] : ['variableSchemas']),
  ];
  if (different.length === 0) return;
  const message = `Version "${existing.label}" exists with another ${different.join(', ')}. A version cannot change: use another label.`;
  throw new CallFailure('CONFLICT', message);
}

/** Of servers, what the version names; what these say of them is not part of a declaration. */
function toolsOf(version: VersionRow | VersionInput): readonly unknown[] | null {
  if ('toolReferences' in version && version.toolReferences) {
    return version.toolReferences.map(shortest);
  }
  return version.executedTools?.map(referenceOf) ?? version.tools;
}

/** A stored version has them as text. */
function schemasOf({ variableSchemas: schemas }: VersionRow | VersionInput): VariableSchemas {
  return typeof schemas === 'string' ? JSON.parse(schemas) : (schemas ?? {});
}

/** Compared with the order of names: a model writes properties in the order of the schema. */
function formatOf({ responseFormat: format }: VersionRow | VersionInput): ResponseFormat | null {
  return typeof format === 'string' ? JSON.parse(format) : (format ?? null);
}
