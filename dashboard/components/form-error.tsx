import { CuelineError } from '../../src/client/index.ts';
import { problemOf, RequestId } from './error-state.tsx';
import classes from './form-error.module.css';

/** Above a form's button: why the server refused it. Takes no room where nothing is wrong. */
export function FormProblem({
  error,
  words,
}: {
  readonly error: unknown;
  /** In place of the server's own, where these say more here. */
  readonly words?: string | undefined;
}) {
  if (error === null || error === undefined) return null;
  const { message, requestId } = problemOf(error);
  return (
    <div className={classes.problem} role="alert">
      {words ?? message}
      {requestId && <RequestId id={requestId} />}
    </div>
  );
}

/** The server's words for the field of that name, to be shown at the field; undefined where it complained of another. */
export function fieldProblem(error: unknown, field: string): string | undefined {
  if (!(error instanceof CuelineError) || error.status !== 400) return undefined;
  const named = /^Field "([^"]+)" (.+)$/s.exec(error.message);
  if (named?.[1] !== field && !named?.[1]?.startsWith(`${field}.`)) return undefined;
  return `It ${named[2]}`;
}
