import { CuelineError } from '../../../src/client/index.ts';
import { describeError, RequestId } from './error-state.tsx';
import classes from './form-error.module.css';

/** The server's error above a form's submit button. */
export function FormError({
  error,
  message,
}: {
  readonly error: unknown;
  /** Replaces the server's message where the page can be more specific. */
  readonly message?: string | undefined;
}) {
  if (error === null || error === undefined) return null;
  const { message: serverMessage, requestId } = describeError(error);
  return (
    <div className={classes.problem} role="alert">
      <span dir="auto">{message ?? serverMessage}</span>
      {requestId && <RequestId id={requestId} />}
    </div>
  );
}

/** The server's message for this field; undefined if the error is about something else. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof CuelineError) || error.status !== 400) return undefined;
  // What it must be, or a sentence of its own.
  const [, named, must, sentence] = /^Field "([^"]+)"(?: (.+)|: (.+))$/s.exec(error.message) ?? [];
  if (named !== field && !named?.startsWith(`${field}.`)) return undefined;
  return sentence ?? `This field ${must}`;
}
