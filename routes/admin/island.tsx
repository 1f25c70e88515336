import { type AnyIsland, type IslandName, ISLANDS } from "../../islands/registry.ts";

type PropsOf<N extends IslandName> = Parameters<typeof ISLANDS[N]>[0];

/**
 * A part of the page that lives on in the browser. Its props are an attribute, where no text
 * can end anything, and not a script.
 */
export function Island<N extends IslandName>({ name, props }: { name: N; props: PropsOf<N> }) {
  const Component = ISLANDS[name] as unknown as AnyIsland;
  return (
    <div data-island={name} data-props={JSON.stringify(props)}>
      <Component {...props} />
    </div>
  );
}
