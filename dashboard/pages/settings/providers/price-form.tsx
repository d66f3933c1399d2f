import { ModelInput } from '../../../components/fields/model-input.tsx';
import { fieldError } from '../../../components/states/form-error.tsx';
import { setPrice } from '../../../data/workspace/prices.ts';
import type { Field } from '../../../kit/fields.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';

type Amount = Exclude<keyof typeof noAmounts, 'model'>;

const noAmounts = {
  ...{ model: '', inputPerMillion: '', outputPerMillion: '' },
  ...{ cacheReadPerMillion: '', cacheWritePerMillion: '' },
};

/** Sends decimals as typed texts: numbers would lose digits. */
export function PriceForm(props: { readonly model: string; readonly onClose?: () => void }) {
  return (
    <FormDialog
      title="Set price"
      submit="Set price"
      intro="In US dollars per million tokens. Empty cache prices default to the input price."
      onClose={props.onClose}
      action={setPrice}
      start={{ ...noAmounts, model: props.model }}
      input={({ cacheReadPerMillion, cacheWritePerMillion, ...price }) => ({
        ...price,
        ...(cacheReadPerMillion !== '' && { cacheReadPerMillion }),
        ...(cacheWritePerMillion !== '' && { cacheWritePerMillion }),
      })}
      fields={({ values, change, error }) => [
        <ModelInput
          key="model"
          placeholder="openai/gpt-5.5"
          required
          value={values.model}
          error={fieldError(error, 'model')}
          onChange={(model) => change({ model })}
        />,
        amount('inputPerMillion', 'Input', true),
        amount('outputPerMillion', 'Output', true),
        amount('cacheReadPerMillion', 'Cache read', false),
        amount('cacheWritePerMillion', 'Cache write', false),
      ]}
    />
  );
}

function amount(name: Amount, label: string, required: boolean): Field<typeof noAmounts> {
  const placeholder = required ? '2.50' : 'Same as input';
  return { name, label, required, placeholder, inputMode: 'decimal' };
}
