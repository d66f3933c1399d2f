import type { ReactNode } from 'react';
import type { Labels } from '../../../src/client/index.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { parseJsonObject } from '../../data/text/json-object.ts';
import { FormDialog } from '../../kit/form-dialog.tsx';
import type { Action } from '../../kit/resource.ts';
import { LabelFields, useLabels } from '../fields/label-fields.tsx';

/** Asks for the input of another run, prefilled with the previous input. */
export function RunAgainDialog<Result>(props: {
  readonly title: string;
  /** The consequences, in full sentences. */
  readonly intro: ReactNode;
  /** The label of the input field. */
  readonly label: string;
  readonly description: string;
  /** Undefined if the previous input is not stored. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  /** Who the previous run was for. */
  readonly labels: Parameters<typeof useLabels>[0];
  readonly action: Action<
    { readonly values: Record<string, unknown>; readonly labels: Labels },
    Result
  >;
  readonly onDone: (result: Result) => void;
  readonly onClose?: (() => void) | undefined;
}) {
  const { intro, label, description, values, labels, ...others } = props;
  const whom = useLabels(labels);
  return (
    <FormDialog
      {...others}
      intro={
        <>
          {intro}
          {!values && ' The previous input is not stored. Enter it again.'}
        </>
      }
      width="medium"
      submit="Run"
      start={{ typed: stringify(values ?? {}, 2) }}
      input={({ typed }) => ({ values: parseJsonObject(typed) ?? {}, labels: whom.labels ?? {} })}
      incomplete={({ typed }) => !parseJsonObject(typed) || !whom.labels}
      fields={() => [
        { name: 'typed', label, description, as: 'json' },
        <LabelFields key="labels" {...whom} />,
      ]}
    />
  );
}
