import { type CallSettingInputs, callSettingsOf } from '../../../core/agent/call-settings.ts';
import type { ModelSettings } from '../../../core/agent/model-settings.ts';
import { declarablePlaceholders, requireOneUse } from '../../../core/agent/prompt.ts';
import { type ResponseFormat, responseFormatOf } from '../../../core/agent/response-format.ts';
import {
  requireVariableSchemas,
  type VariableSchemas,
} from '../../../core/agent/variable-schemas.ts';
import {
  type VersionContent,
  type VersionContentFields,
  versionContent,
} from '../../../core/agent/version-content.ts';
import { CallFailure, requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { nextVersion } from '../statements/next-version.ts';
import { lockPrompt, updatePrompt } from '../statements/prompts.ts';
import { insertVersion, type VersionRow } from '../statements/versions.ts';

export interface VersionInput extends ModelSettings, VersionContent {
  /** A new id unless given. */
  readonly id?: string;
  /** Null for the default, see `defaultLabel`. */
  readonly label: string | null;
  readonly notes: string | null;
  readonly responseFormat?: ResponseFormat | null;
  readonly variableSchemas?: VariableSchemas;
}

/** A version as callers and declarations write it; fields left out or null have no value. */
export interface VersionFields extends CallSettingInputs, VersionContentFields {
  readonly label?: string | null;
  readonly model?: string | null;
  readonly temperature?: number | null;
  readonly maxTokens?: number | null;
  readonly topP?: number | null;
  readonly notes?: string | null;
  readonly responseFormat?: ResponseFormat | null;
  readonly variableSchemas?: VariableSchemas | null;
}

/** @throws {CallFailure} if the fields contradict each other */
export function versionInput(fields: VersionFields): VersionInput {
  const { label = null, notes = null } = fields;
  const { model = null, temperature = null, maxTokens = null, topP = null } = fields;
  return {
    ...versionContent(fields),
    ...{ label, notes, model, temperature, maxTokens, topP, settings: callSettingsOf(fields) },
    responseFormat: responseFormatOf(fields.responseFormat),
    variableSchemas: fields.variableSchemas ?? {},
  };
}

/**
 * Adds a version to a prompt. The lock on the prompt keeps the numbers unique and without gaps. The prompt shows its newest
 * version, so its revision changes.
 */
export async function createVersion(
  db: Db,
  caller: Caller,
  promptId: string,
  input: VersionInput,
): Promise<VersionRow> {
  const variables = requireValid(input);
  return inTransaction(db, async (trx) => {
    const prompt = requireFound(await lockPrompt(trx, caller, promptId), 'prompt');
    if (prompt.archived) throw new CallFailure('CONFLICT', 'The prompt is archived.');
    const next = await nextVersion(trx, 'prompt', promptId);
    const label = input.label ?? next.label;
    const id = input.id ?? uuid7(await readClock(trx));
    const { workspaceId, userId: createdBy } = caller;
    const origin = { id, promptId, workspaceId, number: next.number, createdBy };
    const version = await insertVersion(trx, {
      ...{ ...input, ...origin, label, variables },
      ...schemaTexts(input),
    });
    if (!version) {
      throw new CallFailure(
        'CONFLICT',
        `The prompt already has a version with the label "${label}".`,
      );
    }
    await updatePrompt(trx, prompt);
    await auditChange(trx, caller, 'prompt.version', promptId, {
      promptVersionId: toId('version', id),
      promptVersionLabel: label,
    });
    return version;
  });
}

/** Checks the content of a version but its schemas (`require-schemas.ts`), and returns its placeholders. */
export function requireValid(input: VersionInput): string[] {
  const variables = declarablePlaceholders(input);
  requireOneUse(input);
  requireVariableSchemas(input.variableSchemas ?? {}, variables);
  return variables;
}

/** The schemas of a version as they are stored. */
export function schemaTexts({
  responseFormat = null,
  variableSchemas = {},
}: Pick<VersionInput, 'responseFormat' | 'variableSchemas'>) {
  const isEmpty = Object.keys(variableSchemas).length === 0;
  return {
    responseFormat: responseFormat && JSON.stringify(responseFormat),
    variableSchemas: isEmpty ? null : JSON.stringify(variableSchemas),
  };
}
