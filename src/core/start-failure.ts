/** What keeps a command from starting. The message is written for the user and shown alone, without a stack. */
export class StartFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartFailure';
  }
}
