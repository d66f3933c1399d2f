import { bytesOf, type FreeBytes } from '../../core/byte-shares.ts';
import { inlineCharsMax } from '../../core/compute.ts';
import { CallFailure } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { readWithinBytes } from '../../engine/stream/read-within-bytes.ts';
import { findMessageLists } from '../../features/agents/statements/models.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { referencedResponsesMax } from '../../http/contract/contract-limits.ts';
import { holdCallBytes } from '../../http/limits/call-bytes.ts';
import { findResponse } from './find-response.ts';
import { pickItems, pickItemsJob } from './pick-items.ts';
import { invalidValue } from './read-parameters.ts';
import { charsOf, type ReferencedItems } from './read-responses.ts';

/** Who looks items up, and until when. */
export interface ItemsReader {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * The items with these identifiers, of responses that have ended and that the caller may read; those that it sent only with `read`. What
 * is not found is left out. One response is read after the other, within the bytes that readers may hold, and no more of them than a
 * body may have. What is found is held with what open calls keep of their requests.
 * @throws {ParameterError} if they are too many or too long
 */
export async function findItems(
  deps: ApiDeps,
  reader: ItemsReader,
  ids: readonly string[],
): Promise<{ readonly items: ReferencedItems; readonly free: FreeBytes }> {
  const byResponse = Map.groupBy(ids, responseOf);
  if (byResponse.size > referencedResponsesMax) {
    throw invalidValue('input', `refers to more than ${referencedResponsesMax} responses`);
  }
  const items: Record<string, string> = {};
  let chars = 0;
  let free: FreeBytes = () => {};
  try {
    for (const [responseId, wanted] of byResponse) {
      const picked = await itemsOf(deps, reader, responseId, wanted);
      chars += charsOf(picked);
      if (chars > deps.callBodyBytes) {
        const requirement = `refers to more than ${deps.callBodyBytes} characters`;
        throw invalidValue('input', requirement);
      }
      free();
      free = holdCallBytes(deps.callBytes, reader.caller.workspaceId, 2 * chars);
      Object.assign(items, picked);
    }
    return { items, free };
  } catch (error) {
    free();
    throw error;
  }
}

/** Identifiers of items follow from that of their response. */
function responseOf(itemId: string): string {
  return itemId.replace(/^[a-z]+_/, 'exe_').slice(0, idChars);
}

const idChars = 'exe_'.length + 26;

async function itemsOf(
  deps: ApiDeps,
  { caller, signal }: ItemsReader,
  responseId: string,
  ids: readonly string[],
): Promise<ReferencedItems> {
  const { workspaceId } = caller;
  const reading = { bytes: deps.streams.bytes, workspaceId, signal };
  const counted = await readWithinBytes(reading, () => findResponse(deps, caller, responseId));
  if (!counted) throw new CallFailure('UNAVAILABLE', 'The server shuts down. Try again.');
  const { value: row, free } = counted;
  try {
    if (!row || row.status === 'processing') return {};
    const mayReadInput = caller.rights.includes('read');
    const lists = mayReadInput ? await findMessageLists(deps.db, row.promptVersionId) : null;
    const wanted = { row, ids, caller: { rights: caller.rights }, lists };
    const chars = bytesOf(row) / 2;
    if (chars <= inlineCharsMax) return pickItems(wanted);
    return await deps.compute.run(workspaceId, pickItemsJob, wanted, chars);
  } finally {
    free();
  }
}
