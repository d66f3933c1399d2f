import { Button } from '@mantine/core';
import { CuelineError } from '../../../src/client/index.ts';
import { isForbidden, isNotFound } from '../../data/client/error-status.ts';
import { readableMessage } from '../../data/text/readable-message.ts';
import { Icon } from '../icon.tsx';
import classes from './state.module.css';

/** Shown instead of content that failed to load: the server's message and the request id for support. */
export function ErrorState({
  error,
  onRetry,
  heading: Heading = 'h2',
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** `h1` if it replaces the whole page. */
  readonly heading?: 'h1' | 'h2';
}) {
  const { title, message, requestId } = describeError(error);
  return (
    <div className={classes.state} role="alert">
      <span className={classes.mark} data-bad>
        <Icon name="warning" size={22} />
      </span>
      <Heading>{title}</Heading>
      <div className={classes.text} dir="auto">
        {message}
      </div>
      {isNotFound(error) && (
        <div className={classes.text}>
          It may have been deleted. You may not have access to it; ask its creator or a workspace
          owner.
        </div>
      )}
      {requestId && <RequestId id={requestId} />}
      {onRetry && !isForbidden(error) && (
        <Button variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function RequestId({ id }: { readonly id: string }) {
  return (
    <div className={classes.request}>
      Request <code>{id}</code>
    </div>
  );
}

export interface ErrorDescription {
  readonly title: string;
  readonly message: string;
  readonly requestId: string | null;
}

export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof CuelineError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { title: 'Something went wrong on this page', message, requestId: null };
  }
  const title = titles[error.code] ?? (error.body as { error?: string } | null)?.error;
  return {
    title: title ?? 'The request failed',
    message: readableMessage(error.message),
    requestId: error.requestId,
  };
}

const titles: Readonly<Record<string, string>> = {
  CONNECTION_FAILED: 'Cannot reach the server',
  TIMEOUT: 'The server did not respond in time',
};
