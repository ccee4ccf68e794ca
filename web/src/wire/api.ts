/** Requests to the server, with errors that say what, why and the way out. */

export class ApiError extends Error {
  readonly code: string;
  readonly wayOut: string;
  readonly status: number;

  constructor(status: number, code: string, message: string, wayOut = "") {
    super(message);
    this.code = code;
    this.wayOut = wayOut;
    this.status = status;
  }
}

/** Told to the page when the server does not know this browser any more. */
export const REFUSED = "sestet-refused";
/** Told to the page when the server can be reached again. */
export const REACHED = "sestet-reached";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export async function request<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal);
  if (response.status === 401) dispatchEvent(new Event(REFUSED));
  if (!response.ok) throw await errorOf(response);
  if (response.status === 204) return undefined as T;
  const kind = response.headers.get("content-type") ?? "";
  return (kind.includes("json") ? await response.json() : await response.text()) as T;
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request<T>("GET", path, undefined, signal);
}

export function post<T>(path: string, body?: unknown): Promise<T> {
  return request<T>("POST", path, body);
}

/** A path with parameters behind the question mark; those without a value are left out. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (!given.length) return path;
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}

/** A part of a path. */
export function part(text: string | number): string {
  return encodeURIComponent(String(text));
}

export async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string; way_out?: string } };
    return new ApiError(response.status, error.code, error.message, error.way_out ?? "");
  } catch {
    return new ApiError(response.status, "unreadable", `the server answered with status ${response.status}`);
  }
}

async function send(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server cannot be reached", "Is 'sestet serve' still running?");
  }
}
