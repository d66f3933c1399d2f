import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { mcpProgressBytesMax, mcpResponseBytesMax } from '../../http/contract/contract-limits.ts';

/** Bounds one response: a batch may ask for many results at once, and what a model writes is reported as it comes. */
export class ResponseBudget {
  #bytesLeft = mcpResponseBytesMax;
  #progressLeft = mcpProgressBytesMax;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @throws {ProtocolError} if the result does not fit, with the links of a call. No later result fits either, so that none is
   * read in vain.
   */
  spend(result: object): void {
    this.#bytesLeft -= Buffer.byteLength(JSON.stringify(result));
    if (this.#bytesLeft < 0) throw tooLarge('_meta' in result ? result._meta : undefined);
  }

  /** Whether a message about progress fits. It leaves room for a result. */
  spendOnProgress(message: string): boolean {
    const bytes = Buffer.byteLength(message);
    if (bytes > this.#progressLeft) return false;
    this.#progressLeft -= bytes;
    this.#bytesLeft -= bytes;
    return true;
  }

  /** Runs the work of one request one after another, while there is room. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#bytesLeft < 0) throw tooLarge();
      return work();
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}

function tooLarge(links?: unknown): ProtocolError {
  const message = `The results of this request exceed ${mcpResponseBytesMax} bytes. Send fewer messages at once.`;
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, message, links);
}
