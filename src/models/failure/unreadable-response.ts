/** A response whose text cannot be read. The cause is the AI SDK's error, if it had one. */
export class UnreadableResponse extends Error {
  /** The path of the field at fault; null if the response is not JSON. */
  readonly field: string | null;

  constructor(field: string | null, cause?: unknown) {
    super('the response could not be read', { cause });
    this.name = 'UnreadableResponse';
    this.field = field;
  }
}
