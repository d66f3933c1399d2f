import { Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { FormError } from '../components/states/form-error.tsx';
import { Dialog, DialogActions, type DialogWidth, useCloseDialog } from './dialog.tsx';
import { type Field, Fields } from './fields.tsx';
import { type Action, useAction } from './resource.ts';

/** A form in a dialog, which submits its values as the input of an action and closes. */
export function FormDialog<Values extends object, Input, Result>(props: {
  readonly title: string;
  readonly width?: DialogWidth;
  /** Above the fields. */
  readonly intro?: ReactNode;
  readonly start: Values;
  readonly fields: (form: {
    readonly values: Values;
    readonly change: (some: Partial<Values>) => void;
    readonly error: unknown;
  }) => readonly Field<Values>[];
  readonly action: Action<Input, Result>;
  /** What the action gets. Throws an `Error` with a message for the user if the values make no input. */
  readonly input: (values: Values) => Input;
  /** The label of the button that submits. */
  readonly submit: string | ((values: Values) => string);
  readonly cancel?: string;
  /** Whether the values cannot be submitted. */
  readonly incomplete?: (values: Values) => boolean;
  /** What is shown after the action instead of the form, such as a new secret; nothing, or by default: the dialog closes. */
  readonly done?: (result: Result) => ReactNode;
  /** What else follows, such as another page. */
  readonly onDone?: (result: Result) => void;
  /** Below the fields, after an action that leaves the form open. */
  readonly outcome?: (result: Result) => ReactNode;
  /** Default: closes what `openDialog` has opened. */
  readonly onClose?: (() => void) | undefined;
}) {
  const { start, action, input, submit, cancel, incomplete, done, outcome } = props;
  const closeOpened = useCloseDialog();
  const close = props.onClose ?? closeOpened;
  const [values, setValues] = useState(start);
  const [invalid, setInvalid] = useState<unknown>(null);
  const save = useAction(action);
  const error = invalid ?? save.error;
  const form = useRef<HTMLFormElement>(null);
  const isRejected = error !== null && !save.isPending;
  // The button has lost the focus while it was disabled.
  useEffect(() => {
    if (!isRejected || document.activeElement !== document.body) return;
    const field = form.current?.querySelector<HTMLElement>(
      '[aria-invalid="true"], [type="submit"]',
    );
    field?.focus();
  }, [isRejected]);
  const change = (some: Partial<Values>) => setValues((now) => ({ ...now, ...some }));
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const sent = input(values);
      setInvalid(null);
      save.mutate(sent, {
        onSuccess: (result) => {
          if (!outcome && !done?.(result)) close();
          props.onDone?.(result);
        },
      });
    } catch (problem) {
      setInvalid(problem);
    }
  };
  if (done && save.data !== undefined) return done(save.data);
  return (
    <Dialog
      title={props.title}
      width={props.width ?? 'small'}
      locked={save.isPending}
      onClose={close}
    >
      <form ref={form} onSubmit={onSubmit}>
        <Stack gap="md">
          {props.intro && <p>{props.intro}</p>}
          <Fields
            values={values}
            error={error}
            onChange={change}
            fields={props.fields({ values, change, error })}
          />
          <div className="form-foot">
            <FormError error={error} />
            {outcome && save.data !== undefined && <p role="status">{outcome(save.data)}</p>}
            <DialogActions
              submit={typeof submit === 'string' ? submit : submit(values)}
              {...(cancel && { cancel })}
              pending={save.isPending}
              disabled={incomplete?.(values) ?? false}
            />
          </div>
        </Stack>
      </form>
    </Dialog>
  );
}
