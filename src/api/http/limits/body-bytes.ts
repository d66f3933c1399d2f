import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../../core/failure.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly bodyBytes: BodyBytes;
  }
  interface FastifyRequest {
    /** Null if its body is short. */
    heldBody: HeldBody | null;
  }
}

/**
 * The bytes of request bodies that this process holds, from their arrival until the call is admitted or answered. Nobody knows
 * yet who sends a body, so they have one budget for all.
 *
 * - Short bodies are not counted: the number of open requests limits them.
 * - Without room, a body is refused with 503. First the oldest bodies that have not arrived in time end, so that nobody keeps
 *   others out with bodies that never end.
 */
export class BodyBytes {
  readonly max: number;
  refusals = 0;
  /** Bodies of which a part has arrived, the oldest first. */
  readonly #arriving = new Set<HeldBody>();
  readonly #now: () => number;
  #used = 0;

  constructor(max: number, now = () => performance.now()) {
    this.max = max;
    this.#now = now;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Counts what of a body has arrived.
   * @param end ends its request with an error
   * @returns whether there is room
   */
  hold(request: FastifyRequest, bytes: number, end: (failure: CallFailure) => void): boolean {
    if (bytes <= uncountedMax) return true;
    const body = request.heldBody ?? this.#begin(end);
    request.heldBody = body;
    const added = bytes - body.bytes;
    if (!this.#hasRoom(added)) {
      this.release(request);
      this.refusals++;
      return false;
    }
    body.bytes = bytes;
    this.#used += added;
    return true;
  }

  /** The whole body has arrived. */
  complete({ heldBody }: FastifyRequest): void {
    if (heldBody) this.#arriving.delete(heldBody);
  }

  /** The request needs its body no longer. Calling it again has no effect. */
  release(request: FastifyRequest): void {
    const { heldBody } = request;
    request.heldBody = null;
    if (heldBody) this.#free(heldBody);
  }

  failure(): CallFailure {
    const message = `The bodies of open requests use their share of the memory of this process: ${this.max} bytes. Try again.`;
    return new CallFailure('UNAVAILABLE', message, { retryAfter: 1 });
  }

  #begin(end: HeldBody['end']): HeldBody {
    const body = { bytes: 0, startedAt: this.#now(), end };
    this.#arriving.add(body);
    return body;
  }

  #hasRoom(bytes: number): boolean {
    const now = this.#now();
    for (const body of this.#arriving) {
      if (this.#used + bytes <= this.max || now - body.startedAt < arrivalMs) break;
      this.#free(body);
      this.refusals++;
      body.end(this.failure());
    }
    return this.#used + bytes <= this.max;
  }

  #free(body: HeldBody): void {
    this.#arriving.delete(body);
    this.#used -= body.bytes;
    body.bytes = 0;
  }
}

export interface HeldBody {
  bytes: number;
  readonly startedAt: number;
  readonly end: (failure: CallFailure) => void;
}

const uncountedMax = 16_384;
/** Within this time nobody loses a body that arrives. */
const arrivalMs = 5_000;
