import { NumberInput } from '@mantine/core';

/** A number or null; the placeholder then shows the effective value. */
export function NumberField(props: {
  readonly label: string;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly placeholder?: string;
  readonly description?: string | undefined;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  /** Digits after the decimal point; default 0. */
  readonly decimals?: number;
  readonly error?: string | undefined;
  readonly disabled?: boolean | undefined;
}) {
  const { value, onChange, decimals = 0, min = 0, ...rest } = props;
  return (
    <NumberInput
      {...rest}
      min={min}
      hideControls
      clampBehavior="none"
      allowNegative={min < 0}
      allowDecimal={decimals > 0}
      decimalScale={decimals}
      thousandSeparator={decimals === 0 ? ',' : ''}
      value={value ?? ''}
      onChange={(given) => onChange(given === '' ? null : Number(given))}
    />
  );
}
