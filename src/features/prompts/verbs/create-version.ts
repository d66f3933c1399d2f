import { type CallSettingInputs, callSettingsOf } from '../../../core/agent/call-settings.ts';
import type { ModelSettings } from '../../../core/agent/model-settings.ts';
import { declarablePlaceholders, requireOneUse } from '../../../core/agent/prompt.ts';
import { type ResponseFormat, responseFormatOf } from '../../../core/agent/response-format.ts';
import {
  requireVariableSchemas,
  type VariableSchemas,
} from '../../../core/agent/variable-schemas.ts';
import {
  type VersionContentFields,
  versionContent,
  type WrittenContent,
} from '../../../core/agent/version-content.ts';
import { CallFailure, invalidRequest, requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { referenceOf } from '../../../core/tools/tool-reference.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { insertVersionServers } from '../../tools/statements/tool-servers.ts';
import { freezeTools } from '../../tools/verbs/freeze-tools.ts';
import { nextVersion } from '../statements/next-version.ts';
import { lockPrompt, updatePrompt } from '../statements/prompts.ts';
import { findNamedVersion, insertVersion, type VersionRow } from '../statements/versions.ts';

export interface VersionInput extends ModelSettings, WrittenContent {
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
    const { toolReferences: references = null } = input;
    const executedTools = references && (await freezeTools(trx, caller, references));
    const version = await insertVersion(trx, {
      ...{ ...input, ...origin, label, variables, executedTools },
      ...schemaTexts(input),
    });
    if (!version) {
      throw new CallFailure(
        'CONFLICT',
        `The prompt already has a version with the label "${label}".`,
      );
    }
    const serverIds = (executedTools ?? []).map(({ server }) => server);
    await insertVersionServers(trx, id, [...new Set(serverIds)]);
    await updatePrompt(trx, prompt);
    await auditChange(trx, caller, 'prompt.version', promptId, {
      promptVersionId: toId('version', id),
      promptVersionLabel: label,
    });
    return version;
  });
}

/**
 * Adds a version that is another one with the definitions that its tools have today.
 * @param from label or identifier of a version of the prompt
 */
export async function refreshTools(
  db: Db,
  caller: Caller,
  promptId: string,
  given: { readonly from: string; readonly label: string | null; readonly notes: string | null },
): Promise<VersionRow> {
  return inTransaction(db, async (trx) => {
    requireFound(await lockPrompt(trx, caller, promptId), 'prompt');
    const row = requireFound(
      await findNamedVersion(trx, promptId, given.from),
      'version',
      'prompt',
    );
    const { executedTools, label, notes } = row;
    if (!executedTools) {
      throw invalidRequest(`Field "from": version "${label}" has no tools that Cueline executes.`);
    }
    return createVersion(trx, caller, promptId, {
      ...{ ...row, ...given, notes: given.notes ?? notes },
      ...{ id: uuid7(await readClock(trx)), toolReferences: executedTools.map(referenceOf) },
      responseFormat: row.responseFormat === null ? null : JSON.parse(row.responseFormat),
      variableSchemas: JSON.parse(row.variableSchemas ?? '{}'),
    });
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
