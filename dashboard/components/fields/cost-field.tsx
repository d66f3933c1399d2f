import { NumberField } from './number-field.tsx';

/** The most that one execution may cost, or what the label says. */
export function CostField({
  label = 'Max cost per execution (USD)',
  ...props
}: {
  readonly label?: string;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly error?: string | undefined;
  readonly disabled?: boolean | undefined;
}) {
  return <NumberField {...props} label={label} placeholder="no limit" decimals={10} />;
}
