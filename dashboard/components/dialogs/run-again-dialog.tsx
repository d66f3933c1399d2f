import { Stack, Textarea } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Labels } from '../../../src/client/index.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { parseJsonObject } from '../../data/text/json-object.ts';
import { LabelFields, useLabels } from '../fields/label-fields.tsx';
import { FormError } from '../states/form-error.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

/** Asks for the input of another run, prefilled with the previous input. */
export function RunAgainDialog(props: {
  readonly title: string;
  /** The consequences, in full sentences. */
  readonly children: ReactNode;
  /** The label of the input field. */
  readonly label: string;
  readonly description: string;
  /** Undefined if the previous input is not stored. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly pending: boolean;
  readonly error: unknown;
  /** Who the previous run was for. */
  readonly labels: Parameters<typeof useLabels>[0];
  readonly onRun: (values: Record<string, unknown>, labels: Labels) => void;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState(stringify(props.values ?? {}, 2));
  const values = parseJsonObject(typed);
  const whom = useLabels(props.labels);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (values && whom.labels) props.onRun(values, whom.labels);
  };
  return (
    <Dialog locked={props.pending} onClose={props.onClose} title={props.title} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>{props.children}</p>
          {!props.values && <p>The previous input is not stored. Enter it again.</p>}
          <Textarea
            label={props.label}
            description={props.description}
            autosize
            minRows={4}
            maxRows={18}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.75rem' } }}
            value={typed}
            error={values ? undefined : 'Not a JSON object.'}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <LabelFields {...whom} />
          <FormError error={props.error} />
          <DialogActions submit="Run" pending={props.pending} disabled={!values || !whom.labels} />
        </Stack>
      </form>
    </Dialog>
  );
}
