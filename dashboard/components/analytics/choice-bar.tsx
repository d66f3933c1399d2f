import { UnstyledButton } from '@mantine/core';
import classes from './choice-bar.module.css';

/** One of several choices, all visible. Wraps, unlike a segmented control. */
export function ChoiceBar<Value extends string>(props: {
  readonly label: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  /** Null if none is chosen. */
  readonly value: Value | null;
  readonly onChange: (value: Value) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row in every browser.
    <div role="group" aria-label={props.label} className={classes.bar}>
      {props.choices.map(({ value, label }) => (
        <UnstyledButton
          key={value}
          className={classes.choice}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {label}
        </UnstyledButton>
      ))}
    </div>
  );
}
