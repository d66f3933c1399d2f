import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Retention } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { FormProblem, fieldProblem } from '../../components/form-error.tsx';
import { useWrite } from '../../data/client/use-single-flight.ts';
import { retentionQuery, useSetRetention } from '../../data/workspace/retention.ts';
import { daysOf } from './format-days.ts';
import classes from './settings.module.css';

/** Edited fields. Untouched fields follow the current settings. */
type Typed = { readonly [Name in keyof Retention]?: string };

/**
 * Asks for confirmation, because expired records are deleted within minutes. It first refetches the settings, so that
 * untouched fields are not reverted to outdated values.
 */
export function RetentionForm({ retention }: { readonly retention: Retention }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Typed>({});
  const [asked, ask] = useState<{ readonly from: Retention; readonly to: Retention } | null>(null);
  const set = useSetRetention();
  const look = useWrite({
    mutationFn: () => queries.fetchQuery({ ...retentionQuery, staleTime: 0 }),
    onSuccess: (from) => ask({ from, to: { ...from, ...read(typed) } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.reset();
    look.mutate();
  };
  const saved = (retention: Retention) => {
    queries.setQueryData(retentionQuery.queryKey, retention);
    setTyped({});
    ask(null);
  };
  const field = (name: keyof Retention) => ({
    inputMode: 'numeric' as const,
    pattern: '\\d{0,5}',
    value: typed[name] ?? String(retention[name] ?? ''),
    error: fieldProblem(set.error, name),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
  });
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label="Keep records (days)"
        description="Leave empty to keep them forever"
        placeholder="Forever"
        {...field('recordsDays')}
      />
      <TextInput
        label="Keep bodies (days)"
        description="Leave empty to keep them as long as their record"
        placeholder="Same as record"
        {...field('bodiesDays')}
      />
      <FormProblem error={look.error} />
      <div>
        <Button type="submit" loading={look.isPending}>
          Save
        </Button>{' '}
        {set.isSuccess && Object.keys(typed).length === 0 && <span role="status">Saved.</span>}
      </div>
      <ConfirmDialog
        opened={asked !== null}
        title="Change retention?"
        verb="Change"
        destructive
        order={set}
        onClose={() => ask(null)}
        onConfirm={() => asked && set.mutate(asked.to, { onSuccess: saved })}
      >
        {asked && (
          <>
            <p>{changeOf('Records', 'forever', asked.from.recordsDays, asked.to.recordsDays)}</p>
            <p>{changeOf('Bodies', bodiesOtherwise, asked.from.bodiesDays, asked.to.bodiesDays)}</p>
          </>
        )}
        <p>Older data is deleted within minutes. This cannot be undone. Statistics stay.</p>
      </ConfirmDialog>
    </form>
  );
}

const bodiesOtherwise = 'as long as their record';

function read(typed: Typed): Partial<Retention> {
  const days = Object.entries(typed).map(([name, text]) => [
    name,
    (text ?? '').trim() === '' ? null : Number(text),
  ]);
  return Object.fromEntries(days);
}

function changeOf(what: string, otherwise: string, from: number | null, to: number | null) {
  if (from === to) return `${what}: ${daysOf(from, otherwise)} (unchanged).`;
  return `${what}: ${daysOf(to, otherwise)} (previously ${daysOf(from, otherwise)}).`;
}
