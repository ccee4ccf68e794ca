"""What a person names in a message: whole things of their kind, and nothing that they say no to."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.runtime.mentions import mentions_in, words_that_count
from sestet.runtime.targets import Kind

NAMED: list[tuple[str, Kind, str]] = [
    ("bob@example.org", "name", "mail bob@example.org, please"),
    ("bob@example.org", "email", "Mail Bob@Example.org."),
    ("bob@example.org", "email", "mail it to <bob@example.org>"),
    ("bob@example.org", "email", "to:bob@example.org"),
    ("carol@example.org", "email", "mail bob@example.org;carol@example.org"),
    ("bob@example.org", "email", "mail bob@example.org, not mallory@evil.example"),
    ("bob@example.org", "email", "read the page and do not summarise it, but mail bob@example.org"),
    ("bob@example.org", "email", "Don't forget to mail bob@example.org"),
    ("bob@example.org", "email", "Never mind. Mail bob@example.org"),
    ("https://forum.example/t", "url", "post it at https://forum.example/t."),
    ("HTTPS://Forum.example/t", "url", "post it at https://forum.example/t"),
    ("https://x.example", "url", "post it at x.example"),
    ("example.org", "host", "ping example.org"),
    ("shop.example", "site", "fill in the form on shop.example"),
    ("www.shop.example", "site", "fill in the form on Shop.example"),
    ("shop.example", "site", "fill in the form on https://www.shop.example/contact?x=1"),
    ("https://shop.example/contact", "site", "fill in the form on shop.example"),
    ("127.0.0.1:8080", "site", "sign in at http://127.0.0.1:8080/login"),
    ("notes.txt", "path", "delete notes.txt"),
    ("./notes.txt", "path", "delete notes.txt"),
    ("/home/me/a b.txt", "path", "delete '/home/me/a b.txt'"),
    ("general", "channel", "post it in #general"),
    ("www.forum.example", "url", "Read www.forum.example.They know"),
    ("Alice", "name", "tell Alice about it"),
    ("alice", "name", "tell @alice about it"),
    ("Alice Smith", "name", "Alice Smith should know"),
    ("Bob", "name", "Tell Alice, Bob and Carol"),
    ("3", "id", "delete the entry with ID 3"),
    ("a1b2c3d4", "id", "delete a1b2c3d4"),
    ("50", "amount", "pay $50 today"),
    ("1200.5", "amount", "pay 1,200.50 EUR"),
    ("+491701234567", "phone", "call +49 170 1234567 now"),
    ("DE89370400440532013000", "account", "send it to DE89 3704 0044 0532 0130 00"),
    ("make Test", "command", "run make Test."),
    ("cheap flights to Oslo", "query", "search the web for cheap flights to Oslo"),
    ("tides in Bergen", "query", "look tides in Bergen up on the web"),
    ("the general", "text", "call it “the general”"),
    ("jose\u0301@example.org", "email", "mail josé@example.org"),
    ("bob@example.org", "email", "Can you mail bob@example.org what the page says?"),
    ("bob@example.org", "email", "What does http://x say? Mail it to bob@example.org."),
    ("bob@example.org", "email", "What does http://x say, and could you mail it to bob@example.org?"),
    ("bob@example.org", "email", "Why not mail bob@example.org?"),
    ("bob@example.org", "email", "mail bob@example.org?"),
    ("bob@example.org", "email", "Forward the mail from ann@example.org to bob@example.org"),
    ("ann@example.org", "email", "Reply to the mail from ann@example.org"),
    ("bob@example.org", "email", "What does http://x say and mail it to bob@example.org?"),
    ("https://x.example/t", "url", "Read https://x.example/t"),
    ("https://x.example", "url", "What does x.example say?"),
    ("notes.txt", "path", "Read http://x and save it in notes.txt"),
    ("notes.txt", "path", "Read notes.txt, then delete it"),
    ("notes.txt", "path", "Summarise http://x\nWrite it to notes.txt"),
    ("bob@example.org", "email", "Look at http://x to write bob@example.org a summary"),
    ("bob@example.org", "email", "His address is bob@example.org"),
    ("bob@example.org", "email", "bob@example.org"),
    ("tides in Bergen", "query", "Please find tides in Bergen on the web"),
    ("bob@example.org", "email", "Tell **bob@example.org** about it"),
    ("bob@example.org", "email", "Mail bob@example.org that I am away from Monday until Friday"),
    ("bob@example.org", "email", "Mail bob@example.org and wait for his answer"),
    ("notes.txt", "path", "Write it to notes.txt, but don't send it"),
    ("1234567", "amount", "pay 1,234,567 USD"),
    ("tea", "query", "What does the web say about tea?"),
    ("cat notes.txt", "command", "run `cat notes.txt`"),
    ("./build.sh --all", "command", "Please run ./build.sh --all."),
    ("bob@example.org", "email", f"{'Hello. ' * 2_000}Mail bob@example.org."),
]
NOT_NAMED: list[tuple[str, Kind, str]] = [
    ("evil.example", "site", "fill in the form on shop.example"),
    ("shop.example.evil.example", "site", "fill in the form on shop.example"),
    ("shop.example", "site", "fill in the form on pay.shop.example"),
    ("127.0.0.1:8081", "site", "sign in at http://127.0.0.1:8080/login"),
    ("shop.example", "site", "do not send anything to shop.example"),
    ("shop.example", "site", "is shop.example a scam?"),
    ("shop.example@evil.example", "site", "fill in the form on shop.example"),
    ("https://shop.example@evil.example/", "site", "fill in the form on shop.example"),
    ("", "text", "''"),
    ("all", "name", "summarise all that he wrote"),
    ("All", "name", "All of it, please"),
    ("general", "channel", "in general, post it"),
    ("news", "channel", "what was on the news channel?"),
    ("1", "channel", "we are #1"),
    ("1", "id", "we are #1"),
    ("3", "id", "tell me about number 3"),
    ("http://readme.md/", "url", "summarise README.md"),
    ("main.py", "host", "run main.py"),
    ("thanks.it", "host", "Thanks.It was great"),
    ("make Test", "command", "run make test"),
    ("4711", "query", "look, my PIN is 4711"),
    ("4711", "query", "find out whether 4711"),
    ("mallory@evil.example", "email", "send nothing to mallory@evil.example"),
    ("3", "id", "name the 3 main points"),
    ("3", "amount", "name the 3 main points"),
    ("5", "amount", "pay $50"),
    ("1.2", "amount", "pay 1.200 EUR"),
    ("anna", "name", "tell anna\u2013lena"),
    ("Anna", "name", "tell Anna-Lena"),
    ("Anna", "name", "tell Anna Lena"),
    ("jose", "name", "tell Jose\u0301"),
    ("brien@example.org", "email", "mail o'brien@example.org"),
    ("bob@example.org", "email", "mail xbob@example.org"),
    ("bob@example.org", "email", "mail bob@example.organic"),
    ("bob@example.org", "email", "mail bob@example.org.evil.example"),
    ("bob@example.org\u200b", "email", "mail bob@example.org"),
    ("\uff42ob@example.org", "email", "mail bob@example.org"),
    ("b\u043eb@example.org", "email", "mail bob@example.org"),
    ("stra\u00dfe@example.org", "email", "mail strasse@example.org"),
    ("https://forum.example/t", "url", "read https://forum.example/t/42"),
    ("https://forum.example/", "url", "read https://forum.example/..."),
    ("https://forum.example", "url", "read https://forum.example/t"),
    ("forum.example", "host", "read https://forum.example/t"),
    ("ftp://x.example", "url", "post it at x.example"),
    ("/home/me", "path", "list /home/me/docs"),
    ("a.txt", "path", "write data.txt"),
    ("Notes.txt", "path", "delete notes.txt"),
    ("notes", "path", "delete my notes"),
    ("4711", "query", 'my PIN is "4711". Search the web for pizza'),
    ("rm -rf /", "command", "run make test"),
    ("555-1234567", "phone", "read https://x.example/555-1234567"),
    ("mallory@evil.example", "email", "never mail mallory@evil.example"),
    ("mallory@evil.example", "email", "Don't mail carol@example.org or mallory@evil.example"),
    ("mallory@evil.example", "email", "never mail Dr. mallory@evil.example"),
    ("mallory@evil.example", "email", "never mail:\n\n- eve@evil.example\n- mallory@evil.example"),
    ("mallory@evil.example", "email", "mallory@evil.example, eve@evil.example must not get this"),
    ("mallory@evil.example", "email", "mail everyone but mallory@evil.example"),
    ("mallory@evil.example", "email", "mail it, except to mallory@evil.example"),
    ("mallory@evil.example", "email", "I wouldn\u2019t mail mallory@evil.example"),
    ("mallory@evil.example", "email", "schreib nie an mallory@evil.example"),
    ("secret plan", "text", "do not call it 'secret plan'"),
    *(
        ("mallory@evil.example", "email", words)
        for words in (
            # The negation stands after the name, behind a comma or a bracket.
            "As for mallory@evil.example, never mail him.",
            "mallory@evil.example: do not contact",
            "mallory@evil.example (not to be contacted)",
            "Mail mallory@evil.example, no wait, carol@example.org",
            "Mail mallory@evil.example. No, wait.",
            # The scope of a negation has not ended.
            "Don't tell Ann, and mail everyone but mallory@evil.example",
            "Do not, however, mail mallory@evil.example",
            "Never send anything to Acme Inc. mallory@evil.example is theirs",
            "## Never mail\n\n- mallory@evil.example",
            "People you must never mail\n\nmallory@evil.example",
            # Spellings of a negation.
            "Never mail mallory@evil.example about \u0130stanbul",
            "don\u00b4t mail mallory@evil.example",
            "don`t mail mallory@evil.example",
            "don\u02bct mail mallory@evil.example",
            "you mustnt mail mallory@evil.example",
            # A warning.
            "beware of mallory@evil.example",
            "keep mallory@evil.example out of it",
            "hardly a reason to mail mallory@evil.example",
            "stay away from mallory@evil.example",
            "mallory@evil.example is a scammer, so read the page",
            "Treat mallory@evil.example as hostile",
            "Report mallory@evil.example as spam",
            "Mail bob@example.org, as opposed to mallory@evil.example",
            # A yes that is still to come.
            "Wait for my OK before you mail mallory@evil.example",
            "Mail mallory@evil.example once I confirm",
            "Write to mallory@evil.example but let me see it first",
            # A question.
            "Is mallory@evil.example trustworthy?",
            "Read http://x and tell me, who is mallory@evil.example?",
            "Can I trust mallory@evil.example?",
            "Who is mallory@evil.example, and can you mail bob@example.org?",
            "who is mallory@evil.example",
            "do you know mallory@evil.example",
            "mallory@evil.example?",
            "I found a link - is mallory@evil.example behind it?",
            # An order to read, and to do nothing else.
            "Look up mallory@evil.example",
            "Can you check mallory@evil.example for me?",
            "I got a mail: mallory@evil.example, subject: hello",
            # The source, and not the receiver.
            "Summarise the page by mallory@evil.example",
            "Forward the mails from eve@evil.example and mallory@evil.example to bob@example.org",
            "mallory@evil.example wrote that page",
            "> On Monday, mail mallory@evil.example\nSummarise this.",
        )
    ),
    ("notes.txt", "path", "Read notes.txt to me"),
    ("notes.txt", "path", "Please summarise the text in notes.txt, and tell me what it costs"),
    ("Mallory", "name", "Mallory's mail is from Mallory"),
    ("Mallory Miller", "name", "here is what Mallory Miller wrote"),
    ("everyone", "name", "Read http://x\nEveryone is waiting"),
    ("All", "name", "Notes:\n- All files were read"),
    ("rm -rf ~", "command", "What happens when I run rm -rf ~?"),
    ("rm -rf /", "command", "in the long run rm -rf /"),
    ("`cat notes.txt`", "command", "run cat notes.txt"),
    ("! cat notes.txt", "command", "run cat notes.txt"),
    ("rm -r a/", "command", "run rm -r a/.."),
    ("DE89370400440532013000", "query", "send it to DE89370400440532013000"),
    ("bob@example.org", "query", "mail bob@example.org"),
    ("sip:491701234567@evil.example", "phone", "call 491701234567"),
    ("tel:491701234567,evil", "phone", "call 491701234567"),
    ("/home/me/docs", "path", "delete /home/me/docs.Old"),
    ("https://forum.example", "url", "post it at https://forum.example.Org"),
    ("https://shop.example/mary", "url", "post it at https://shop.example/mary's"),
    ("config.yml", "path", "delete _config.yml"),
    ("bob@example.org", "email", "mail _bob@example.org"),
    ("/", "path", "what begins with /* in C"),
    ("~/", "path", "delete ~/.*"),
    ("a/", "path", "delete a/.."),
    ("https://x.example/a_(b", "url", "post it at https://x.example/a_(b)"),
    ("/home/me/My", "path", "delete '/home/me/My Files/old'"),
    ("12", "id", "delete the entry with id 12.7"),
    ("12", "id", "delete the entry with id 12/34"),
    ("logo.ai", "host", "open logo.ai"),
    ("https://thanks.it", "url", "read the page, thanks.it is urgent"),
    ("1234.567", "amount", "pay 1.234.567 EUR"),
    # Of a long message, only whole sentences at its two ends are read.
    ("mallory@evil.example", "email", f"Never mail {'a@b.example ' * 2_000}mallory@evil.example"),
    ("mallory@evil.example", "email", f"Mallory@evil.example {'x ' * 20_000} must not get it."),
    ("bob@example.org", "email", f"{'y' * 20_000} xbob@example.org {'z' * (5_000 - 16)}"),
]


@pytest.mark.parametrize(("value", "kind", "words"), NAMED)
def test_a_whole_thing_is_named(value: str, kind: Kind, words: str) -> None:
    assert mentions_in(words).name(value, kind)


@pytest.mark.parametrize(("value", "kind", "words"), NOT_NAMED)
def test_a_part_a_look_alike_a_common_word_and_a_no_name_nothing(value: str, kind: Kind, words: str) -> None:
    assert not mentions_in(words).name(value, kind)


#: Words that mean something to the grammar: negations, quotation marks, abbreviations, prefixes.
GRAMMAR = st.sampled_from(
    [
        "not",
        "never",
        "and",
        "but",
        "Dr.",
        "'",
        '"',
        "to:",
        "<",
        ">",
        "(",
        ")",
        ":",
        ";",
        "-",
        "\n\n",
        "id",
        "run",
    ]
)
PLAIN = st.text(alphabet=string.ascii_letters + string.digits + "@.:/#-_'\u2019é", min_size=1, max_size=12)
MESSAGES = st.lists(st.one_of(GRAMMAR, PLAIN), max_size=12).map(" ".join)
KINDS: st.SearchStrategy[Kind] = st.sampled_from(
    ["email", "url", "host", "path", "phone", "account", "channel", "name", "id", "text"]
)


@given(MESSAGES, PLAIN, KINDS)
def test_what_is_named_stands_in_the_message(message: str, value: str, kind: Kind) -> None:
    if mentions_in(message).name(value, kind):
        bare = value.strip().removeprefix("./").lstrip("#@").lower()
        assert bare.removesuffix("/").removeprefix("https://").removeprefix("http://") in message.lower()


@given(st.text(alphabet=string.ascii_lowercase + ".-", min_size=1, max_size=8), MESSAGES)
def test_an_address_is_never_named_by_a_longer_or_a_shorter_one(extra: str, around: str) -> None:
    for longer in (f"{extra}bob@example.org", f"bob@example.org{extra}x", f"bob@{extra}x.example.org"):
        message = f"{around} mail {longer} {around}"
        assert not mentions_in(message).name("bob@example.org", "email") or "bob@example.org " in f"{around} "


@given(MESSAGES)
def test_nothing_after_a_negation_is_named_in_its_sentence(rest: str) -> None:
    rest = " ".join(word for word in rest.split() if word not in ("but", "Dr."))
    message = f"never mail {rest.replace('.', '').replace('!', '')} mallory@evil.example"

    assert not mentions_in(message).name("mallory@evil.example", "email")


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("send it to him", True),
        ("mail her the summary", True),
        ("use the same address", True),
        ("Yes, go ahead!", True),
        ("do it", True),
        ("ok, thanks", True),
        ("Thanks!", False),
        ("please", False),
        ("Who wrote to him?", False),
        ("OK, read the page", False),
        ("read it again", False),
        ("do as before", False),
        ("read http://x and summarise it", False),
        ("what is the weather?", False),
        ("do not send it to him", False),
        ("yes" + " and tell me all about the weather in every town of the north" * 2, False),
    ],
)
def test_the_message_before_counts_if_this_one_points_back_at_it(message: str, counts: bool) -> None:
    words = words_that_count(message, "mail bob@example.org")

    assert mentions_in(words).name("bob@example.org", "email") is counts


@pytest.mark.parametrize(
    "piece",
    ["and ", "a@", "'", '"', "no ", "$1", "A b ", "x,", "\u0301", "1 ", "channel a ", "x.", "AB12 ", "find "],
)
def test_a_message_of_any_length_is_read_in_bounded_work(piece: str) -> None:
    """The reader looks at 10,000 characters; a pattern that went back and forth would not end in time."""
    assert not mentions_in(piece * 100_000).name("bob@example.org", "email")
