import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly bodyBytes: BodyBytes;
  }
  interface FastifyRequest {
    /** Null if its body is short. */
    heldBody: HeldBody | null;
    /** The workspace of its caller, once that is known. */
    bodyOwner: string | null;
  }
}

/**
 * The bytes of request bodies that this process holds, from their arrival until the call is admitted or answered. Until it is known
 * who sends a body, callers are distinguished by the credential that they send, from then on by their workspace.
 *
 * - Short bodies are not counted: the number of open requests limits them.
 * - The bodies of one workspace, or with one unknown credential, use at most all but a tenth.
 * - Without room, a body is refused with 503. First the oldest bodies that have not arrived in time end, so that nobody keeps
 *   others out with bodies that never end.
 */
export class BodyBytes {
  readonly max: number;
  readonly senderMax: number;
  refusals = 0;
  /** Bodies of which a part has arrived, the oldest first. */
  readonly #arriving = new Set<HeldBody>();
  readonly #bySender = new Map<string, number>();
  readonly #now: () => number;
  #used = 0;

  constructor(max: number, now = () => performance.now()) {
    this.max = max;
    this.senderMax = max - Math.ceil(max / 10);
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
    request.heldBody ??= this.#begin(request, end);
    const body = request.heldBody;
    const added = bytes - body.bytes;
    if (this.#hasRoom(body, added)) {
      this.#count(body, added);
      return true;
    }
    this.release(request);
    this.refusals++;
    return false;
  }

  /**
   * The caller is known: the body counts for its workspace, with those of all its keys and users.
   * @throws {CallFailure} if these have no room
   */
  assign(request: FastifyRequest, workspaceId: string): void {
    request.bodyOwner = workspaceId;
    const { heldBody: body } = request;
    if (!body || body.sender === workspaceId) return;
    const { bytes } = body;
    this.#count(body, -bytes);
    body.sender = workspaceId;
    if ((this.#bySender.get(workspaceId) ?? 0) + bytes <= this.senderMax) {
      this.#count(body, bytes);
      return;
    }
    this.release(request);
    this.refusals++;
    throw this.failure();
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
    const message = `The bodies of open requests use their share of the memory of this process: ${this.max} bytes, of which one workspace uses ${this.senderMax}. Try again.`;
    return new CallFailure('UNAVAILABLE', message, { retryAfter: 1 });
  }

  #begin({ headers, bodyOwner }: FastifyRequest, end: HeldBody['end']): HeldBody {
    const credential = headers.authorization?.replace(/^bearer\s+/i, '') ?? headers.cookie ?? '';
    const sender = bodyOwner ?? credential;
    const body = { sender, bytes: 0, startedAt: this.#now(), end };
    this.#arriving.add(body);
    return body;
  }

  #hasRoom(body: HeldBody, added: number): boolean {
    const ofSender = this.#bySender.get(body.sender) ?? 0;
    if (ofSender + added > this.senderMax) return false;
    const now = this.#now();
    for (const other of this.#arriving) {
      if (this.#used + added <= this.max || now - other.startedAt < arrivalMs) break;
      if (other === body) continue;
      this.#free(other);
      this.refusals++;
      other.end(this.failure());
    }
    return this.#used + added <= this.max;
  }

  #count(body: HeldBody, added: number): void {
    body.bytes += added;
    this.#used += added;
    const ofSender = (this.#bySender.get(body.sender) ?? 0) + added;
    if (ofSender > 0) this.#bySender.set(body.sender, ofSender);
    else this.#bySender.delete(body.sender);
  }

  #free(body: HeldBody): void {
    this.#arriving.delete(body);
    this.#count(body, -body.bytes);
  }
}

export interface HeldBody {
  /** The workspace of the caller; before it is known, the credential of the request. */
  sender: string;
  bytes: number;
  readonly startedAt: number;
  readonly end: (failure: CallFailure) => void;
}

const uncountedMax = 16_384;
/** Within this time nobody loses a body that arrives. */
const arrivalMs = 5_000;
