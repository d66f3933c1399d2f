import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTestProvider } from '../data/workspace/providers.ts';
import { describeError } from './error-state.tsx';
import { StateBadge } from './state-badge.tsx';
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
      <div className={classes.outcome} role="status">
        <Outcome {...test} />
      </div>
      {calling && <TryModel name={name} onClose={() => setCalling(false)} />}
    </div>
  );
}

function Outcome({ isPending, data, error }: ReturnType<typeof useTestProvider>) {
  if (isPending) return <span className={classes.text}>Testing…</span>;
  if (error) return <Failed code="Not tested" message={describeError(error).message} />;
  if (!data) return null;
  if (data.error) return <Failed {...data.error} />;
  return <StateBadge tone="good" text={`Connected, ${data.latencyMs} ms`} />;
}

function Failed({ code, message }: { readonly code: string; readonly message: string }) {
  return (
    <>
      <StateBadge tone="bad" text={code} />
      <p className={classes.text}>{message}</p>
    </>
  );
}
