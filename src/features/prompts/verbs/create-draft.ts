import { Type } from 'typebox';
import type { Compute } from '../../../core/compute.ts';
import { CallFailure, invalidRequest, notFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { requireSchemas, requireToolSchemas } from '../../../engine/compute/require-schemas.ts';
import { checkBody } from '../../../http/request/validate.ts';
import { freezeTools } from '../../tools/verbs/freeze-tools.ts';
import { DraftVersionInput } from '../contract/prompts-contract.ts';
import { draftLabel, findDraftTarget } from '../statements/drafts.ts';
import { insertVersion } from '../statements/versions.ts';
import { requireValid, schemaTexts, type VersionFields, versionInput } from './create-version.ts';

/**
 * Drafts: versions without a number, for one execution of a playground each. Records, statistics and templates refer to them
 * like to other versions. No list shows them and no agent pins them. A draft is deleted with the record of its execution, or
 * by a sweep if there is none (`statements/drafts.ts`).
 */

const Draft = Type.Object({ draft: DraftVersionInput }, { additionalProperties: false });

/**
 * Checks and stores a draft for an execution of the agent. Its label is ignored.
 * @throws {CallFailure} that names the field
 */
export async function createDraft(
  { db, compute }: { readonly db: Db; readonly compute: Compute },
  caller: Caller,
  agentId: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { workspaceId, userId: createdBy } = caller;
  const { draft } = checkBody<{ draft: VersionFields }>(Draft, { draft: fields });
  const { input, variables } = readDraft(draft);
  await requireSchemas(compute, workspaceId, input, 'draft.');
  await requireToolSchemas(compute, workspaceId, input.tools ?? [], 'Field "draft.');
  return inTransaction(db, async (trx) => {
    const agent = await findDraftTarget(trx, workspaceId, agentId);
    if (!agent) throw notFound('agent');
    if (input.model === null && !agent.hasModel) {
      throw invalidRequest('Field "draft.model" is missing: the agent has no model of its own.');
    }
    const { toolReferences: references = null } = input;
    const executedTools =
      references && (await freezeTools(trx, caller, references).catch(throwForDraft));
    const id = uuid7(await readClock(trx));
    await insertVersion(trx, {
      ...{ ...input, id, workspaceId, createdBy, variables, executedTools, ...schemaTexts(input) },
      ...{ promptId: null, number: null, label: draftLabel },
      draft: { promptId: agent.promptId, agentId },
    });
    return id;
  });
}

function readDraft(draft: VersionFields) {
  try {
    const input = versionInput(draft);
    return { input, variables: requireValid(input) };
  } catch (error) {
    return throwForDraft(error);
  }
}

/** A field of a version is a field of the draft here. */
function throwForDraft(error: unknown): never {
  if (!(error instanceof CallFailure && error.code === 'INVALID_REQUEST')) throw error;
  throw invalidRequest(error.message.replace(/^Field "/, 'Field "draft.'));
}
