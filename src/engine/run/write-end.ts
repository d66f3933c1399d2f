import { noDetails } from '../../core/model/model-port.ts';
import { isUnstorable } from '../../db/database-error.ts';
import type { End, Finisher } from '../complete/finish.ts';

const firstPauseMs = 50;
const pauseMsMax = 1_000;

export interface WriteEndDeps {
  readonly finisher: Finisher;
  readonly onError: (error: unknown, operation: string) => void;
}

/**
 * Writes an end and retries until it is written or ownership is lost. The model call is already paid for. While this
 * process owns the execution, no other one repeats the call, however long the database is unavailable.
 */
export async function writeEnd(
  { finisher, onError }: WriteEndDeps,
  end: End,
  isOwned: () => boolean,
): Promise<void> {
  let pauseMs = firstPauseMs;
  let hasTexts = true;
  for (; isOwned(); pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    try {
      await finisher.finish(end);
      return;
    } catch (error) {
      onError(error, 'finish');
      if (isUnstorable(error) && hasTexts) {
        end = withoutTexts(end);
        hasTexts = false;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** PostgreSQL cannot store the texts, but it can store that the execution ended. */
function withoutTexts(end: End): End {
  const outcome = {
    ...end.outcome,
    ...{ prompt: null, output: null, toolCalls: [], finishReason: null, details: noDetails },
    ...({ status: 'failed', errorCode: 'INTERNAL', error: 'Internal error.' } as const),
  };
  return { ...end, outcome };
}
