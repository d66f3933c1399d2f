import { noDetails } from '../../core/model/model-port.ts';
import { isUnstorable } from '../../db/database-error.ts';
import type { End, Finisher } from '../complete/finish.ts';
import { untilWritten } from '../transaction/until-written.ts';

export interface WriteEndDeps {
  readonly finisher: Finisher;
  readonly onError: (error: unknown, operation: string) => void;
}

/** Writes an end and retries until it is written or ownership is lost. */
export async function writeEnd(
  { finisher, onError }: WriteEndDeps,
  end: End,
  isOwned: () => boolean,
): Promise<void> {
  let written = end;
  await untilWritten(
    isOwned,
    (error) => onError(error, 'finish'),
    (failure) => {
      if (isUnstorable(failure)) written = withoutTexts(end);
      return finisher.finish(written);
    },
  );
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
