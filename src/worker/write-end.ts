import type { End, Finisher } from '../flow/execution/finish.ts';
import { isUnstorable } from '../store/connection/database-error.ts';

/** From one try to the next at most. */
const pauseMsMax = 1_000;

export interface WriteEndDeps {
  readonly finisher: Finisher;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * The work is done and paid for: tries until it is written, or until the run is not ours any more. As long as the run is
 * known here nobody else calls its model, however long the database is away.
 */
export async function writeEnd(
  parts: WriteEndDeps,
  end: End,
  isOurs: () => boolean,
): Promise<void> {
  let pauseMs = 50;
  let hasTexts = true;
  for (; isOurs(); pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    try {
      await parts.finisher.finish(end);
      return;
    } catch (error) {
      parts.onError(error, 'finish');
      if (isUnstorable(error) && hasTexts) {
        end = withoutTexts(end);
        hasTexts = false;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** What it holds cannot be stored; that the run ended can. */
function withoutTexts(end: End): End {
  return {
    ...end,
    systemPrompt: null,
    userPrompt: null,
    output: null,
    finishReason: null,
    status: 'failed',
    errorCode: 'INTERNAL',
    error: 'Internal error.',
  };
}
