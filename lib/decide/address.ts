import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";

/** RFC 4291 §2.4: what is assigned for global unicast today (IANA's IPv6 address space). */
const GLOBAL_V6: [IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** IPv4-compatible addresses, RFC 4291 §2.5.5.1. Loopback and `::` lie in it as 0.0.0.1 and 0.0.0.0. */
const COMPATIBLE: [IPv6, number] = [ipaddr.IPv6.parse("::"), 96];

/** NAT64's well-known prefix, RFC 6052 §2.1. The local-use one (RFC 8215) may embed anywhere. */
const NAT64: [IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

/**
 * Whether an address (IPv4 or IPv6 text, no brackets) is global unicast. An IPv6 address
 * that carries an IPv4 one (mapped, compatible, NAT64, 6to4) is judged by that one. In
 * doubt it is not: zone ids, unknown spellings, Teredo and all special-purpose blocks.
 */
export function isGlobalUnicast(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  const embedded = parsed instanceof ipaddr.IPv6 ? embeddedV4(parsed) : parsed;
  if (embedded !== undefined) return embedded.range() === "unicast";
  return parsed.range() === "unicast" && (parsed as IPv6).match(GLOBAL_V6);
}

/**
 * Whether a connection to this address may be opened: global unicast always, any other
 * only where `allowed` is true or one of its CIDR blocks has it. A bare address is a
 * block of one; a block that cannot be read allows nothing.
 */
export function mayConnect(address: string, allowed: boolean | readonly string[]): boolean {
  if (isGlobalUnicast(address)) return true;
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  if (typeof allowed === "boolean") return allowed;
  // The kernel connects a mapped address to the IPv4 one, so that is what is compared.
  const dialled = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()
    ? parsed.toIPv4Address()
    : parsed;
  return allowed.some((block) => contains(block, dialled));
}

/** No zone id, and no IPv4 part that one reader takes for octal or hex and another for decimal. */
const V6 = /^[0-9A-Fa-f:]*:(?:(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){3}|[0-9A-Fa-f]*)$/;

function parseAddress(address: string): IPv4 | IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  const isV6 = V6.test(address) && ipaddr.IPv6.isValid(address);
  return isV6 ? ipaddr.IPv6.parse(address) : undefined;
}

function embeddedV4(address: IPv6): IPv4 | undefined {
  const bytes = address.toByteArray();
  const from = address.isIPv4MappedAddress() || address.match(COMPATIBLE) || address.match(NAT64)
    ? 12
    : address.range() === "6to4"
    ? 2 // RFC 3056 §2: 2002:V4ADDR::/48
    : undefined;
  return from === undefined ? undefined : new ipaddr.IPv4(bytes.slice(from, from + 4));
}

/** An address, and how many of its leading bits count where that is not all of them. */
const BLOCK = /^([^/]+)(?:\/(\d{1,3}))?$/;

function contains(block: string, address: IPv4 | IPv6): boolean {
  const [, base = "", bits] = BLOCK.exec(block) ?? [];
  const parsed = parseAddress(base);
  if (parsed === undefined || parsed.kind() !== address.kind()) return false;
  const width = parsed.kind() === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? width : Number(bits);
  if (prefix > width) return false;
  return parsed instanceof ipaddr.IPv4
    ? (address as IPv4).match(parsed, prefix)
    : (address as IPv6).match(parsed, prefix);
}
