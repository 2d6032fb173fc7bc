"""Use an explorer as a reader does, by mouse and by keyboard, and say what did not answer."""

CONTROLS = "input, select, button"


def use_explorer(page, box):
    """Move every control of the explorer ``box``; '' or, after its name, what is wrong with it."""
    told = []
    box.scroll_into_view_if_needed()
    controls = box.locator("input, select").all()
    check_frame(box, told)
    for number, control in enumerate(controls, start=1):
        is_slider = control.get_attribute("type") == "range"
        for way in (click_slider, press_key) if is_slider else (choose, press_key):
            use(page, box, control, way, f"control {number}", told)
            check_frame(box, told)
    for button in box.locator("button").all():
        for way in (click, press_enter):
            use(page, box, button, way, "Play", told)
            if button.inner_text() == "Pause":
                way(page, button)  # what moves on while it is looked at cannot be checked
            check_frame(box, told)
    stops, count = walk_by_tab(page, box), box.locator(CONTROLS).count()
    if not controls or stops != count:
        told.append(f"Tab reaches, and shows, {stops} of {count} controls")
    return f"{box.get_attribute('data-explorer')}: {'; '.join(told)}" if told else ""


def use(page, box, control, way, name, told):
    """The explorer answers, if not at once then after a moment."""
    before = box.evaluate("look.state")
    way(page, control)
    if not box.evaluate("look.changesFrom", before):
        told.append(f"{name}, {way.__name__}: nothing changes")


def check_frame(box, told):
    """What is shown and does not fit the controls' values is added to ``told``."""
    frame = box.evaluate("(box) => look.frame(box)")
    if not frame["isDrawn"]:
        told.append(f"frame {frame['k']} is no picture")
    if frame["shown"] != frame["due"]:
        told.append(f"frame {frame['k']} says {frame['shown']}, not {frame['due']}")


def click_slider(page, slider):
    box = slider.bounding_box()
    is_high = slider.evaluate("e => e.value > e.max / 2")
    x = box["x"] + box["width"] * (0.15 if is_high else 0.85)
    page.mouse.click(x, box["y"] + box["height"] / 2)


def choose(page, select):
    """The list that a click opens is the browser's own, outside the page."""
    select.select_option(index=0 if select.evaluate("e => e.selectedIndex") else 1)


def press_key(page, control):
    control.focus()
    is_last = "e => e.options ? e.selectedIndex === e.options.length - 1 : e.value === e.max"
    back, on = (
        ("ArrowLeft", "ArrowRight") if control.get_attribute("type") else ("ArrowUp", "ArrowDown")
    )
    page.keyboard.press(back if control.evaluate(is_last) else on)


def click(page, button):
    button.click()


def press_enter(page, button):
    button.focus()
    page.keyboard.press("Enter")


def walk_by_tab(page, box):
    """How many controls Tab stops at, one after another, with the focus to be seen."""
    box.locator(CONTROLS).first.focus()
    page.keyboard.press("Shift+Tab")  # a focus set by a script is not shown
    page.keyboard.press("Tab")
    stops = 0
    while box.evaluate("box => box.contains(document.activeElement)") and stops < 20:
        stops += page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
        page.keyboard.press("Tab")
    return stops
