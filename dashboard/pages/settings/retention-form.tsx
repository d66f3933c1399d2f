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

/** What was typed. A field that nobody touched shows what holds, and follows it. */
type Typed = { readonly [Name in keyof Retention]?: string };

/**
 * Asked for again before it is set: what is over by it is gone within minutes. It is read anew before that question, so
 * that a field that nobody touched is set to what holds by then, and never back to what this page once read.
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
        label="Days that records are kept"
        description="Empty is for ever"
        placeholder="for ever"
        {...field('recordsDays')}
      />
      <TextInput
        label="Days that bodies are kept"
        description="Empty is as long as their record"
        placeholder="as long as their record"
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
        title="Change how long records stay?"
        verb="Change"
        destructive
        order={set}
        onClose={() => ask(null)}
        onConfirm={() => asked && set.mutate(asked.to, { onSuccess: saved })}
      >
        {asked && (
          <>
            <p>{changeOf('Records', 'for ever', asked.from.recordsDays, asked.to.recordsDays)}</p>
            <p>{changeOf('Bodies', bodiesOtherwise, asked.from.bodiesDays, asked.to.bodiesDays)}</p>
          </>
        )}
        <p>
          What is older than that goes within minutes, and nothing brings it back. The statistics
          stay.
        </p>
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
  if (from === to) return `${what} are kept ${daysOf(from, otherwise)}, as before.`;
  return `${what} are kept ${daysOf(to, otherwise)}; until now it was ${daysOf(from, otherwise)}.`;
}
