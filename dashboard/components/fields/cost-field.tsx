import { NumberField } from './number-field.tsx';

/** The most that one execution may cost. */
export function CostField(props: {
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly error?: string | undefined;
  readonly disabled?: boolean | undefined;
}) {
  return (
    <NumberField
      {...props}
      label="Max cost per execution (USD)"
      placeholder="no limit"
      decimals={10}
    />
  );
}
