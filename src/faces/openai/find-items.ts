import { restoreFiles } from '../../core/agent/stored-files.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { referencedResponsesMax } from '../../http/contract/contract-limits.ts';
import { findResponse } from './find-response.ts';
import { inputItems } from './input-items.ts';
import { invalidValue } from './read-parameters.ts';
import type { ReferencedItems } from './read-responses.ts';
import { outputItems } from './response-wire.ts';

/**
 * The items with these identifiers, of responses that have ended and that the caller may read; those that it sent only with `read`. What
 * is not found is left out. One response is read after the other, and no more of them than a body may have.
 * @throws {ParameterError} if they are too many or too long
 */
export async function findItems(
  deps: Pick<ApiDeps, 'db' | 'reads' | 'callBodyBytes'>,
  caller: Caller,
  ids: readonly string[],
): Promise<ReferencedItems> {
  const byResponse = Map.groupBy(ids, responseOf);
  if (byResponse.size > referencedResponsesMax) {
    throw invalidValue('input', `refers to more than ${referencedResponsesMax} responses`);
  }
  const found: Record<string, unknown> = {};
  let chars = 0;
  for (const [responseId, wanted] of byResponse) {
    const row = await findResponse(deps, caller, responseId);
    if (!row || row.status === 'processing') continue;
    const items = await itemsOf(deps, caller, row);
    for (const item of items.filter(({ id }) => wanted.includes(String(id)))) {
      chars += JSON.stringify(item).length;
      if (chars > deps.callBodyBytes) {
        const requirement = `refers to more than ${deps.callBodyBytes} characters`;
        throw invalidValue('input', requirement);
      }
      found[String(item.id)] = item;
    }
  }
  return found;
}

/** Identifiers of items follow from that of their response. */
function responseOf(itemId: string): string {
  return itemId.replace(/^[a-z]+_/, 'exe_').slice(0, idChars);
}

const idChars = 'exe_'.length + 26;

async function itemsOf(
  { db }: Pick<ApiDeps, 'db'>,
  caller: Caller,
  row: Execution,
): Promise<Record<string, unknown>[]> {
  const { inputVariables, fileData = null } = row;
  const sent = inputVariables && restoreFiles(inputVariables, fileData);
  const input = caller.rights.includes('read')
    ? await inputItems(db, { ...row, inputVariables: sent })
    : [];
  return [...outputItems(row, caller), ...input];
}
