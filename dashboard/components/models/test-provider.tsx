import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTestProvider } from '../../data/workspace/providers.ts';
import { describeError } from '../states/error-state.tsx';
import { StateBadge } from '../states/state-badge.tsx';
import classes from './test-provider.module.css';
import { TryModel } from './try-model.tsx';

/** Tests the stored credential now, or calls a model with it. The result is not stored. */
export function TestProvider(props: { readonly name: string; readonly size?: 'xs' | 'sm' }) {
  const { name, size = 'xs' } = props;
  const test = useTestProvider();
  const [calling, setCalling] = useState(false);
  return (
    <div className={classes.test}>
      <Button
        size={size}
        variant="default"
        aria-label={`Test ${name}`}
        loading={test.isPending}
        onClick={() => test.mutate({ name })}
      >
        Test
      </Button>
      <Button
        size={size}
        variant="default"
        aria-label={`Call a model of ${name}`}
        onClick={() => setCalling(true)}
      >
        Call a model
      </Button>
      <TestOutcome
        isPending={test.isPending}
        error={test.error}
        result={test.data}
        success={`Connected, ${test.data?.latencyMs} ms`}
      />
      {calling && <TryModel name={name} onClose={() => setCalling(false)} />}
    </div>
  );
}

/** The outcome of a test of a credential. A refusal of the provider is a result. */
export function TestOutcome(props: {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly result:
    | { readonly error?: { readonly code: string; readonly message: string } | undefined }
    | undefined;
  readonly success: string;
}) {
  const { isPending, error, result, success } = props;
  return (
    <div className={classes.outcome} role="status">
      {isPending ? (
        <span className={classes.text}>Testing…</span>
      ) : error ? (
        <Failed code="Not tested" message={describeError(error).message} />
      ) : result?.error ? (
        <Failed {...result.error} />
      ) : (
        result && <StateBadge tone="good" text={success} />
      )}
    </div>
  );
}

function Failed({ code, message }: { readonly code: string; readonly message: string }) {
  return (
    <>
      <StateBadge tone="bad" text={code} />
      <p className={classes.text} dir="auto">
        {message}
      </p>
    </>
  );
}
