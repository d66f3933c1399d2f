import { FormDialog } from '../../kit/form-dialog.tsx';
import type { Action } from '../../kit/resource.ts';
import { NameFields } from '../fields/name-fields.tsx';
import { SlugField } from '../fields/slug-field.tsx';

interface NameAndDescription {
  readonly name: string;
  readonly description: string | null;
  /** Left out for what has none. */
  readonly slug?: string;
}

export function RenameDialog<Result>(props: {
  readonly named: NameAndDescription;
  readonly action: Action<NameAndDescription, Result>;
}) {
  const { name, description, slug } = props.named;
  return (
    <FormDialog
      title="Edit details"
      submit="Save"
      action={props.action}
      start={{ name, description: description ?? '', slug }}
      input={(about) => ({
        name: about.name,
        description: about.description || null,
        ...(about.slug !== undefined && { slug: about.slug }),
      })}
      fields={({ values, change, error }) => [
        <NameFields
          key="name"
          {...{ error, name: values.name, description: values.description }}
          onChange={change}
          autoFocus
        />,
        values.slug !== undefined && (
          <SlugField
            key="slug"
            value={values.slug}
            error={error}
            onChange={(slug) => change({ slug })}
          />
        ),
      ]}
    />
  );
}
